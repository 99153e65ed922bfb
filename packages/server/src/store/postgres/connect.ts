import { bounds } from '../../bounds.ts';
import { OperatorError } from '../../operator-error.ts';
import { addressOf, Connection } from './connection.ts';
import type { Sighting } from './lookout.ts';
import { identify, succeeds } from './server.ts';

/** A connection to the primary, for as long as its work takes. */
export async function connectToPrimary(urls: readonly string[]): Promise<Sighting> {
  const looks = await Promise.all(urls.map(lookAt));
  // One that was replaced and does not know it takes writes, too: the one of the latest promotion counts.
  const [primary, ...deposed] = looks
    .filter((look) => typeof look !== 'string')
    .toSorted(
      (one, other) => Number(succeeds(other.server, one.server)) - Number(succeeds(one.server, other.server)),
    );
  for (const { client } of deposed) client.abandon();
  if (primary !== undefined) return primary;
  throw new OperatorError(`Cannot open the database at ${looks.join(', nor at ')}.`);
}

/** A primary there, or where and why there is none. */
async function lookAt(url: string): Promise<Sighting | string> {
  let client: Connection | undefined;
  try {
    client = new Connection({ connectionString: url });
    await client.connect();
    const server = await identify(client, bounds.postgresConnectMs);
    if (server.role === 'primary') return { url, client, server };
    client.abandon();
    return `${addressOf(url)} (it is a standby: name the primary)`;
  } catch (error) {
    client?.abandon();
    const { message, code } = error as NodeJS.ErrnoException;
    return `${addressOf(url)} (${message || code})`;
  }
}

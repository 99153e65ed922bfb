import { postgresBounds } from '../../../bounds/postgres.ts';
import { OperatorError } from '../../../lib/operator-error.ts';
import { addressOf, Connection } from './connection.ts';
import type { Sighting } from './primary-watch.ts';
import { identify, succeeds } from './server.ts';

/** An address without a primary, and why there is none. */
interface Miss {
  readonly address: string;
  readonly reason: string;
  /** Of the server's refusal, or of the way to it. */
  readonly code: string | undefined;
  readonly isStandby: boolean;
}

export interface Looks {
  readonly primary: Sighting | undefined;
  readonly misses: readonly Miss[];
}

/** A connection to the primary, for as long as its work takes. */
export async function connectToPrimary(urls: readonly string[]): Promise<Sighting> {
  const looks = await lookForPrimary(urls);
  if (looks.primary === undefined) throw withoutPrimary(looks);
  return looks.primary;
}

/** Looks at all addresses of a database at once. */
export async function lookForPrimary(urls: readonly string[]): Promise<Looks> {
  const looks = await Promise.all(urls.map(lookAt));
  // One that was replaced and does not know it takes writes, too: the one of the latest promotion counts.
  const [primary, ...deposed] = looks
    .filter((look) => 'client' in look)
    .toSorted(
      (one, other) => Number(succeeds(other.server, one.server)) - Number(succeeds(one.server, other.server)),
    );
  for (const { client } of deposed) client.abandon();
  return { primary, misses: looks.filter((look) => 'reason' in look) };
}

export function withoutPrimary({ misses }: Looks): OperatorError {
  const where = misses.map(({ address, reason }) => `${address} (${reason})`);
  return new OperatorError(`Cannot open the database at ${where.join(', nor at ')}.`);
}

async function lookAt(url: string): Promise<Sighting | Miss> {
  let client: Connection | undefined;
  try {
    client = new Connection({ connectionString: url });
    await client.connect();
    const server = await identify(client, postgresBounds.postgresConnectMs);
    if (server.role === 'primary') return { url, client, server };
    client.abandon();
    const reason = 'it is a standby: name the primary';
    return { address: addressOf(url), reason, code: undefined, isStandby: true };
  } catch (error) {
    client?.abandon();
    const { message, code } = error as NodeJS.ErrnoException;
    return { address: addressOf(url), reason: message || code || 'no answer', code, isStandby: false };
  }
}

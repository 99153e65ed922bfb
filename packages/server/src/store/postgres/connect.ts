import { bounds } from '../../bounds.ts';
import { OperatorError } from '../../operator-error.ts';
import { addressOf, Connection } from './connection.ts';
import type { Sighting } from './lookout.ts';
import { identify } from './server.ts';

/** A connection to the primary, for as long as its work takes. */
export async function connectToPrimary(urls: readonly string[]): Promise<Sighting> {
  const faults: string[] = [];
  for (const url of urls) {
    let client: Connection | undefined;
    try {
      client = new Connection({ connectionString: url });
      await client.connect();
      const server = await identify(client, bounds.postgresConnectMs);
      if (server.role === 'primary') return { url, client, server };
      faults.push(`${addressOf(url)} (it is a standby: name the primary)`);
    } catch (error) {
      const { message, code } = error as NodeJS.ErrnoException;
      faults.push(`${addressOf(url)} (${message || code})`);
    }
    client?.abandon();
  }
  throw new OperatorError(`Cannot open the database at ${faults.join(', nor at ')}.`);
}

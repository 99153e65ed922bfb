import pg from 'pg';
import { bounds } from '../../bounds.ts';
import { OperatorError } from '../../operator-error.ts';
import { driverTypes } from './types.ts';

/** One connection to the primary, outside of any pool and for as long as its work takes. */
export async function connectToPrimary(urls: readonly string[]): Promise<pg.Client> {
  const faults: string[] = [];
  for (const url of urls) {
    try {
      const client = await connect(url);
      const { rows } = await client.query('select pg_is_in_recovery() as is_standby');
      if (!rows[0].is_standby) return client;
      await client.end();
      faults.push(`${addressOf(url)} (it is a standby: name the primary)`);
    } catch (error) {
      const { message, code } = error as NodeJS.ErrnoException;
      faults.push(`${addressOf(url)} (${message || code})`);
    }
  }
  throw new OperatorError(`Cannot open the database at ${faults.join(', nor at ')}.`);
}

async function connect(connectionString: string): Promise<pg.Client> {
  const client = new pg.Client({
    connectionString,
    connectionTimeoutMillis: bounds.postgresConnectMs,
    keepAlive: true,
    application_name: 'partner-network',
    types: driverTypes,
  });
  // Whoever uses the connection learns of its end from a statement that fails.
  client.on('error', () => {});
  await client.connect();
  return client;
}

/** Where a server is, without user and password. */
export function addressOf(url: string): string {
  return new URL(url).host || 'localhost';
}

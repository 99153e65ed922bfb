import { postgresBounds } from '../../../bounds/postgres.ts';
import { OperatorError } from '../../../lib/operator-error.ts';
import { addressOf, Connection } from './connection.ts';
import { identify, type Server, succeeds } from './server.ts';

/** The primary, and a connection to it. */
export interface Primary {
  readonly url: string;
  readonly connection: Connection;
  readonly server: Server;
}

/** An address that does not lead to a primary, and why. */
interface Miss {
  readonly address: string;
  readonly reason: string;
  /** SQLSTATE or error code of the operating system. */
  readonly code: string | undefined;
  readonly isStandby: boolean;
}

export interface SearchResult {
  readonly primary: Primary | undefined;
  readonly misses: readonly Miss[];
}

export async function connectToPrimary(urls: readonly string[]): Promise<Primary> {
  const result = await searchPrimary(urls);
  if (result.primary === undefined) throw withoutPrimary(result);
  return result.primary;
}

/** Tries all addresses of a database at once. */
export async function searchPrimary(urls: readonly string[]): Promise<SearchResult> {
  const results = await Promise.all(urls.map(tryAddress));
  // A replaced primary may not know that it was replaced and still accept writes: the latest promotion wins.
  const [primary, ...replaced] = results
    .filter((result) => 'connection' in result)
    .toSorted((a, b) => Number(succeeds(b.server, a.server)) - Number(succeeds(a.server, b.server)));
  for (const { connection } of replaced) connection.abandon();
  return { primary, misses: results.filter((result) => 'reason' in result) };
}

export function withoutPrimary({ misses }: SearchResult): OperatorError {
  const where = misses.map(({ address, reason }) => `${address} (${reason})`);
  return new OperatorError(`Cannot open the database at ${where.join(', nor at ')}.`);
}

async function tryAddress(url: string): Promise<Primary | Miss> {
  const address = addressOf(url);
  let connection: Connection | undefined;
  try {
    connection = new Connection({ connectionString: url });
    await connection.connect();
    const server = await identify(connection, postgresBounds.postgresConnectMs);
    if (server.role === 'primary') return { url, connection, server };
    connection.abandon();
    return { address, reason: 'it is a standby: name the primary', code: undefined, isStandby: true };
  } catch (error) {
    connection?.abandon();
    const { message, code } = error as NodeJS.ErrnoException;
    return { address, reason: message || code || 'no answer', code, isStandby: false };
  }
}

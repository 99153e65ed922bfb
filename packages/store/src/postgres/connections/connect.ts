import { postgresBounds } from '@partner-network/common/bounds/store';
import { OperatorError } from '@partner-network/common/errors';
import { addressOf, Connection } from './connection.ts';
import { identify, isSame, type Server, succeeds } from './server.ts';

/** A server, and a connection to it. */
export interface Reached {
  readonly url: string;
  readonly connection: Connection;
  readonly server: Server;
}

/** An address that does not lead to a server, or not to the primary. */
export interface Miss {
  readonly address: string;
  readonly reason: string;
  /** SQLSTATE, error code of the operating system, or `standby`. */
  readonly code: string | undefined;
}

export async function connectToPrimary(urls: readonly string[]): Promise<Reached> {
  const { primary, misses } = await searchPrimary(urls);
  if (primary === undefined) {
    const remedy = 'Check --database, or find the cause with "partner-network doctor".';
    throw new OperatorError(`${withoutPrimary(misses)} ${remedy}`);
  }
  return primary;
}

/** Tries all addresses of a database at once. `rivals` are the other servers that accept writes. */
export async function searchPrimary(
  urls: readonly string[],
): Promise<{ primary: Reached | undefined; misses: readonly Miss[]; rivals: readonly Reached[] }> {
  // A dead address among several must not delay the start.
  const connectMs = urls.length > 1 ? postgresBounds.connectMs : postgresBounds.commandConnectMs;
  const results = await Promise.all(urls.map((url) => reachPrimary(url, connectMs)));
  // A replaced primary may not know that it was replaced and still accept writes: the latest promotion wins.
  const [primary, ...replaced] = results
    .filter((result) => 'connection' in result)
    .toSorted((a, b) => Number(succeeds(b.server, a.server)) - Number(succeeds(a.server, b.server)));
  for (const { connection } of replaced) connection.abandon();
  // Two addresses can lead to one server.
  const rivals = replaced.filter(({ server }) => !isSame(server, primary!.server));
  return { primary, misses: results.filter((result) => 'reason' in result), rivals };
}

export function withoutPrimary(misses: readonly Miss[]): string {
  const where = misses.map(({ address, reason }) => `${address} (${reason})`);
  return `Cannot open the database at ${where.join(' or ')}.`;
}

async function reachPrimary(url: string, connectMs: number): Promise<Reached | Miss> {
  const result = await reach(url, connectMs);
  if ('reason' in result || result.server.role === 'primary') return result;
  result.connection.abandon();
  return { address: addressOf(url), reason: 'it is a standby; name the primary', code: 'standby' };
}

export async function reach(url: string, connectMs: number): Promise<Reached | Miss> {
  let connection: Connection | undefined;
  try {
    connection = new Connection({ connectionString: url, connectionTimeoutMillis: connectMs });
    await connection.connect();
    return { url, connection, server: await identify(connection, connectMs) };
  } catch (error) {
    connection?.abandon();
    const { message, code } = error as NodeJS.ErrnoException;
    return { address: addressOf(url), reason: message || code || 'no answer', code };
  }
}

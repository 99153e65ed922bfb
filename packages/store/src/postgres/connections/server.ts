/** Finds the primary among addresses, identifies the server behind a connection, and rejects a wrong one. */
import { postgresBounds } from '@partner-network/common/bounds/store';
import { OperatorError } from '@partner-network/common/errors';
import type { Environment } from '@partner-network/contract/environments';
import { StoreUnavailable } from '../../port.ts';
import { requireEnvironment } from '../../sql/schema.ts';
import { addressOf, Connection } from './connection.ts';

type Role = 'primary' | 'standby';

export interface Server {
  readonly role: Role;
  /** The cluster's identifier, which a primary and its copies share. */
  readonly system: string;
  /** Eight digits that grow with each promotion, so the later is the greater text. Null on a standby. */
  readonly timeline: string | null;
  readonly startedAt: string;
  /** The database's oid in the cluster, which a primary and its copies share. */
  readonly database: string;
}

/** The server that a pool connects to. */
export interface Source {
  /** Its current address, which changes on a failover. */
  readonly url: string;
  /** Resolves when the server can be used, usually at once. Rejects after a short wait. */
  whenAvailable(): Promise<void>;
  /** Rejects a new connection that leads to a wrong server. */
  examine(connection: Connection, timeoutMs?: number): Promise<void>;
  /** Calls back when a lost server is found again. `isOther` says whether another server took its place. */
  onReturn?(listener: (isOther: boolean) => void): void;
}

/** Reads none of our tables, so that a lock on a table cannot make a server look silent. */
const facts = `
  case when pg_is_in_recovery() then 'standby' else 'primary' end as role,
  (select system_identifier::text from pg_control_system()) as system,
  case when not pg_is_in_recovery() then left(pg_walfile_name(pg_current_wal_lsn()), 8) end as timeline,
  pg_postmaster_start_time()::text as "startedAt",
  (select oid::text from pg_database where datname = current_database()) as database`;

export async function identify(connection: Connection, query_timeout?: number): Promise<Server> {
  const query = { text: `select ${facts}`, query_timeout };
  return (await connection.query(query)).rows[0];
}

/** Citus cannot plan a generic statement: it has to know which node has the rows. */
const planForCitus = `
  (select set_config('plan_cache_mode', 'auto', false) from pg_extension where extname = 'citus')`;

/** Checks each new connection before its first use, because an address can lead to another server. */
export async function examine(
  connection: Connection,
  role: Role,
  environment: Environment,
  query_timeout: number = postgresBounds.silenceMs,
): Promise<Server> {
  const stamp = `(select value from settings where name = 'environment') as environment`;
  const query = { text: `select ${facts}, ${stamp}, ${planForCitus} as plans`, query_timeout };
  const { environment: stamped, plans: _, ...server } = (await connection.query(query)).rows[0];
  refuseOtherRole(server, role);
  requireEnvironment(stamped, environment);
  return server;
}

/** A replica must be a copy of the primary: log positions of another database cannot be compared. */
export async function examineReplica(
  connection: Connection,
  environment: Environment,
  primary: Server,
): Promise<void> {
  if (!isCopy(await examine(connection, 'standby', environment), primary)) {
    throw new StoreUnavailable('The replica is a copy of another database.');
  }
}

export function refuseOtherRole(server: Server, role: Role): void {
  if (server.role === role) return;
  throw new StoreUnavailable(
    role === 'primary' ? 'The database is a standby, not the primary.' : 'The replica is not a standby.',
  );
}

/** Whether both have the same database, or had it before one was promoted. */
export function isCopy(server: Server, other: Server): boolean {
  return server.system === other.system && server.database === other.database;
}

/** Whether it is the same server and was not restarted, so that connections to it may still work. */
export function isSame(server: Server, other: Server): boolean {
  const { system, timeline, startedAt } = server;
  return system === other.system && timeline === other.timeline && startedAt === other.startedAt;
}

/** Whether `server` was promoted later than `other`, which may not know that it was replaced. */
export function succeeds(server: Server, other: Server): boolean {
  return server.system === other.system && (server.timeline ?? '') > (other.timeline ?? '');
}

/** A server, and a connection to it. */
export interface Reached {
  readonly url: string;
  readonly connection: Connection;
  readonly server: Server;
}

/** An address that does not lead to a server, or not to the primary. */
export interface Miss {
  readonly url: string;
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
  return { url, address: addressOf(url), reason: 'it is a standby; name the primary', code: 'standby' };
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
    return { url, address: addressOf(url), reason: message || code || 'no answer', code };
  }
}

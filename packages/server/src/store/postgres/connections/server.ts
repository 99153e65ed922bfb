/** Which server a connection leads to, and whether that is one to use. */
import type { Environment } from '@partner-network/contract/environments';
import { postgresBounds } from '../../../bounds/postgres.ts';
import { StoreUnavailable } from '../../port.ts';
import { faultOfEnvironment, refuse } from '../../sql/schema.ts';
import type { Connection } from './connection.ts';

/** What a connection must lead to: where writes go, or a copy of that. */
export type Role = 'primary' | 'standby';

export interface Server {
  readonly role: Role;
  /** The same for a primary and all that were copied from it. */
  readonly system: string;
  /** Begun anew with each promotion, in 8 digits: the later is the greater text. Not known of a standby. */
  readonly timeline: string | null;
  readonly startedAt: string;
  /** Which of the cluster's databases: the same on a primary and on its copies. */
  readonly database: string;
}

/** No table of ours is read, so no lock of anybody's makes a server look silent. */
const facts = `
  case when pg_is_in_recovery() then 'standby' else 'primary' end as role,
  (select system_identifier::text from pg_control_system()) as system,
  case when not pg_is_in_recovery() then left(pg_walfile_name(pg_current_wal_lsn()), 8) end as timeline,
  pg_postmaster_start_time()::text as "startedAt",
  (select oid::text from pg_database where datname = current_database()) as database`;

export async function identify(client: Connection, query_timeout?: number): Promise<Server> {
  const question = { text: `select ${facts}`, query_timeout };
  return (await client.query(question)).rows[0];
}

/** An address may come to mean another server: each connection is looked at before it is used. */
export async function examine(client: Connection, role: Role, environment: Environment): Promise<Server> {
  const text = `select ${facts}, (select value from settings where name = 'environment') as environment`;
  const question = { text, query_timeout: postgresBounds.postgresSilenceMs };
  const { environment: stamped, ...server } = (await client.query(question)).rows[0];
  refuseOtherRole(server, role);
  refuse(faultOfEnvironment(stamped, environment));
  return server;
}

/** A replica must be a copy of the primary: the log of another cluster or database means nothing here. */
export async function examineReplica(
  client: Connection,
  environment: Environment,
  primary: Server,
): Promise<void> {
  const { system, database } = await examine(client, 'standby', environment);
  if (system !== primary.system || database !== primary.database) {
    throw new StoreUnavailable('The replica is of another database.');
  }
}

export function refuseOtherRole(server: Server, role: Role): void {
  if (server.role === role) return;
  throw new StoreUnavailable(
    role === 'primary' ? 'The database is a standby, not the primary.' : 'The replica is not a standby.',
  );
}

/** Whether it is the very same, and was not restarted meanwhile: connections to it may still be good. */
export function isSame(server: Server, other: Server): boolean {
  const { system, timeline, startedAt } = server;
  return system === other.system && timeline === other.timeline && startedAt === other.startedAt;
}

/** Whether one was promoted after the other had been the primary, which may not know of it. */
export function succeeds(server: Server, other: Server): boolean {
  return server.system === other.system && (server.timeline ?? '') > (other.timeline ?? '');
}

import { randomBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { Environment } from '@partner-network/contract/environments';
import { type Client, DatabaseError } from 'pg';
import { postgresBounds } from '../../bounds/postgres.ts';
import { OperatorError } from '../../lib/operator-error.ts';
import { toTime } from '../../lib/times.ts';
import type { Migration } from '../port.ts';
import {
  type Fault,
  faultOfEnvironment,
  faultOfOldVersion,
  faultOfVersion,
  type Migrations,
  migrationsIn,
  refuse,
  type Stamp,
  stranger,
} from '../sql/schema.ts';

export const ours = migrationsIn(new URL('./migrations/', import.meta.url));

/** "PNet": the advisory lock that is held during a migration. */
const lock = 0x504e6574;

/** Postgres 15, as `server_version_num` writes it. */
const oldestServer = 150_000;
const lockNotAvailable = '55P03';

/** Limits the wait for a table in use, because all later statements on it wait behind the migration. */
const limitLocks = `set lock_timeout = ${postgresBounds.migrationLockMs}`;

/** Brings the database to the current schema. Safe to repeat, and to run on many machines at once. */
export async function migrate(
  client: Client,
  environment: Environment,
  { scripts, current }: Migrations = ours,
): Promise<Migration> {
  refuse(unfitness(await traitsOf(client)));
  await client.query(limitLocks);
  await takeTurn(client);
  const from = await versionOf(client, environment, current);
  for (const [index, script] of scripts.entries()) {
    if (index >= from) await step(client, environment, script(), index + 1);
  }
  await client.query(`select pg_advisory_unlock(${lock})`);
  return { from, to: current };
}

/** Rejects a database that is not at the current schema. */
export async function requireCurrent(
  client: Client,
  environment: Environment,
  { current }: Migrations = ours,
): Promise<Migration> {
  refuse(unfitness(await traitsOf(client)));
  // For this transaction only: behind a pooler the session then serves another client.
  await client.query(`begin; set local lock_timeout = ${postgresBounds.migrationLockMs}`);
  const version = await versionOf(client, environment, current);
  await client.query('commit');
  refuse(faultOfOldVersion(version, current));
  return { from: version, to: version };
}

/**
 * Waits until no other migration runs. It polls, because a statement that waits for the lock is a
 * transaction, and an index that the other migration builds concurrently would wait for that transaction.
 */
async function takeTurn(client: Client): Promise<void> {
  const deadlineMs = performance.now() + postgresBounds.migrationWaitMs;
  while (true) {
    const { rows } = await client.query(`select pg_try_advisory_lock(${lock}) as is_ours`);
    if (rows[0].is_ours) return;
    if (performance.now() > deadlineMs) {
      throw new OperatorError(
        'Somebody else is still migrating this database: run "partner-network migrate" again when they have ended.',
      );
    }
    await wait(postgresBounds.migrationRetryMs);
  }
}

async function step(
  client: Client,
  environment: Environment,
  script: string,
  version: number,
): Promise<void> {
  const isConcurrent = /\bconcurrently\b/i.test(withoutComments(script));
  try {
    await (isConcurrent ? runConcurrently(client, script) : client.query(`begin; ${script}`));
    if (version === 1) await stamp(client, environment);
    await setVersion(client, version);
    if (!isConcurrent) await client.query('commit');
  } catch (error) {
    if (!isConcurrent) await client.query('rollback').catch(() => {});
    throw error instanceof DatabaseError ? explained(error, version) : error;
  }
}

/**
 * Builds indexes concurrently: statement by statement and outside of a transaction, as Postgres demands. It
 * may take hours and wait for other transactions, but blocks none. A failed build leaves an invalid index, so
 * such a script begins with `drop index concurrently if exists`. Each statement ends at the end of a line.
 */
async function runConcurrently(client: Client, script: string): Promise<void> {
  await client.query('set lock_timeout = 0');
  for (const statement of withoutComments(script).split(/;\s*$/m)) {
    if (statement.trim() !== '') await client.query(statement);
  }
  await client.query(limitLocks);
}

function withoutComments(script: string): string {
  return script.replace(/--.*$/gm, '');
}

function explained({ code, message }: DatabaseError, version: number): OperatorError {
  const reason =
    code === lockNotAvailable
      ? 'somebody keeps a table locked (pg_stat_activity shows who); run "partner-network migrate" again'
      : `migration ${version} failed (${message}, ${code})`;
  return new OperatorError(`The schema stays at ${version - 1}: ${reason}.`);
}

async function setVersion(client: Client, version: number): Promise<void> {
  const upsert = `insert into settings (name, value) values ('schema', $1)
    on conflict (name) do update set value = excluded.value`;
  await client.query(upsert, [String(version)]);
}

/** Binds a new database to one environment, and creates its first cursor key. */
async function stamp(client: Client, environment: Environment): Promise<void> {
  await client.query(`insert into settings (name, value) values ('environment', $1)`, [environment]);
  const firstKey = 'insert into cursor_keys (id, secret, created_at) values (0, $1, $2)';
  await client.query(firstKey, [randomBytes(32), toTime(Date.now())]);
}

/** The version of the schema, 0 for a new database. Rejects a newer schema and the other environment. */
async function versionOf(client: Client, environment: Environment, current: number): Promise<number> {
  const stamp = await stampOf(client);
  if (stamp === undefined) return 0;
  refuse(faultOfVersion(stamp, current));
  refuse(faultOfEnvironment(stamp.environment, environment));
  return stamp.version;
}

/** The environment and version of a database, undefined if it is new. Rejects another program's database. */
export async function stampOf(client: Client): Promise<Stamp | undefined> {
  const { rows: found } = await client.query(`
    select array_agg(attname::text order by attnum) as columns
    from pg_attribute where attrelid = to_regclass('settings') and attnum > 0`);
  const columns: string[] | null = found[0].columns;
  if (columns === null) return undefined;
  if (columns.join() !== 'name,value') refuse(stranger);
  const { rows } = await client.query('select name, value from settings');
  const settings = new Map(rows.map(({ name, value }) => [name, value]));
  if (!settings.has('environment') || !settings.has('schema')) refuse(stranger);
  return { environment: settings.get('environment'), version: Number(settings.get('schema')) };
}

/** Properties of a database that a migration cannot change. */
interface Traits {
  readonly version: number;
  readonly version_name: string;
  readonly encoding: string;
}

export async function traitsOf(client: Client): Promise<Traits> {
  const { rows } = await client.query(`
    select current_setting('server_version_num')::integer as version,
      current_setting('server_version') as version_name, current_setting('server_encoding') as encoding`);
  return rows[0];
}

export function unfitness({ version, version_name, encoding }: Traits): Fault | undefined {
  if (version < oldestServer) {
    return { fact: `The database is Postgres ${version_name}`, remedy: 'use version 15 or later' };
  }
  if (encoding !== 'UTF8') {
    return { fact: `The database's encoding is ${encoding}`, remedy: 'create it with encoding UTF8' };
  }
  return undefined;
}

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

/** "PNet": whoever migrates a database holds this lock on it. */
const lock = 0x504e6574;

const oldestServer = 150_000;
const lockNotAvailable = '55P03';

/** A table that is in use is waited for this long, and those who come after us wait no longer than that. */
const limitLocks = `set lock_timeout = ${postgresBounds.migrationLockMs}`;

/** Brings the database to the current schema; safe to run twice, and from many machines at once. */
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

/** Refuses a database that is not at the current schema, and says how it gets there. */
export async function requireCurrent(
  client: Client,
  environment: Environment,
  { current }: Migrations = ours,
): Promise<Migration> {
  refuse(unfitness(await traitsOf(client)));
  // Only for this transaction: behind a pooler the session is somebody else's a moment later.
  await client.query(`begin; set local lock_timeout = ${postgresBounds.migrationLockMs}`);
  const version = await versionOf(client, environment, current);
  await client.query('commit');
  refuse(faultOfOldVersion(version, current));
  return { from: version, to: version };
}

/**
 * One at a time. Those who wait ask again and again: a statement that waited would be a transaction, and an
 * index that is built concurrently would wait for that in turn.
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
 * An index on a large table is built concurrently, which Postgres does outside of a transaction only, one
 * statement at a time. That may take hours and wait for the transactions of others, but nobody waits for it.
 * A build that fails leaves an index that is not valid: such a script begins with `drop index concurrently if
 * exists`, so that it can be run again. Each of its statements ends where a line does.
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

/** What an operator can do about a migration that failed. */
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

/** A new database belongs to us and one environment for good, and gets the key that seals its cursors. */
async function stamp(client: Client, environment: Environment): Promise<void> {
  await client.query(`insert into settings (name, value) values ('environment', $1)`, [environment]);
  await client.query('insert into cursor_keys (id, secret, created_at) values (0, $1, $2)', [
    randomBytes(32),
    toTime(Date.now()),
  ]);
}

/** The version of the schema, 0 for a new database. Refuses what is not ours to touch. */
async function versionOf(client: Client, environment: Environment, current: number): Promise<number> {
  const stamp = await stampOf(client);
  if (stamp === undefined) return 0;
  refuse(faultOfVersion(stamp, current));
  refuse(faultOfEnvironment(stamp.environment, environment));
  return stamp.version;
}

/** What the database says of itself; nothing when it is new. Refuses another program's. */
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

/** What no migration can change about a database. */
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

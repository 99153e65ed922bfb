import { randomBytes } from 'node:crypto';
import type { Environment } from '@partner-network/contract/environments';
import { type Client, DatabaseError } from 'pg';
import { postgresBounds } from '../../bounds/postgres.ts';
import { OperatorError } from '../../lib/operator-error.ts';
import { toTime } from '../../lib/times.ts';
import type { Migration } from '../port.ts';
import {
  type Fault,
  faultOfOldVersion,
  type Migrations,
  migrationsIn,
  notOurs,
  refuse,
  type Stamp,
  usableVersion,
} from '../sql/schema.ts';

export const migrations = migrationsIn(new URL('./migrations/', import.meta.url));

/** Postgres 15, as `server_version_num` writes it. */
const oldestServer = 150_000;
const lockNotAvailable = '55P03';

/** Limits the wait for a table in use, because all later statements on it wait behind the migration. */
const limitLocks = `set local lock_timeout = ${postgresBounds.migrationLockMs}`;

/** Waits until no other migration runs. "PNet" is the lock. Read committed: the version is read after it. */
const takeTurn = `
  begin isolation level read committed;
  set local lock_timeout = ${postgresBounds.migrationWaitMs};
  select pg_advisory_xact_lock(${0x504e6574});
  ${limitLocks}`;

/**
 * Brings the database to the current schema, in one transaction. Safe to repeat, and to run on many machines
 * at once. The caller closes the client after an error, which rolls back.
 */
export async function migrate(
  client: Client,
  environment: Environment,
  { scripts, current }: Migrations = migrations,
): Promise<Migration> {
  refuse(faultOfServer(await traitsOf(client)));
  try {
    await client.query(takeTurn);
  } catch (error) {
    if ((error as DatabaseError).code !== lockNotAvailable) throw error;
    throw new OperatorError(
      'Another migration of this database is running. Run "partner-network migrate" again when it has ended.',
    );
  }
  const from = usableVersion(await stampOf(client), environment, current);
  let version = from;
  try {
    while (version < current) {
      version += 1;
      await client.query(scripts[version - 1]!());
      if (version === 1) await stamp(client, environment);
      await client.query(setVersion, [String(version)]);
    }
    await client.query('commit');
  } catch (error) {
    if (!(error instanceof DatabaseError)) throw error;
    const reason =
      error.code === lockNotAvailable
        ? 'another session has locked a table (see pg_stat_activity). Run "partner-network migrate" again'
        : `migration ${version} failed (${error.message}, ${error.code})`;
    throw new OperatorError(`The schema stays at ${from}: ${reason}.`);
  }
  return { from, to: current };
}

/** Rejects a database that is not at the current schema. */
export async function requireCurrent(
  client: Client,
  environment: Environment,
  { current }: Migrations = migrations,
): Promise<Migration> {
  refuse(faultOfServer(await traitsOf(client)));
  // For this transaction only: behind a pooler the session then serves another client.
  await client.query(`begin; ${limitLocks}`);
  const version = usableVersion(await stampOf(client), environment, current);
  await client.query('commit');
  refuse(faultOfOldVersion(version, current));
  return { from: version, to: version };
}

const setVersion = `
  insert into settings (name, value) values ('schema', $1)
  on conflict (name) do update set value = excluded.value`;

/** Binds a new database to one environment, and creates its first cursor key. */
async function stamp(client: Client, environment: Environment): Promise<void> {
  await client.query(`insert into settings (name, value) values ('environment', $1)`, [environment]);
  const firstKey = 'insert into cursor_keys (id, secret, created_at) values (0, $1, $2)';
  await client.query(firstKey, [randomBytes(32), toTime(Date.now())]);
}

/** The environment and version of a database, undefined if it is new. Rejects another program's database. */
export async function stampOf(client: Client): Promise<Stamp | undefined> {
  const { rows: found } = await client.query(`
    select array_agg(attname::text order by attnum) as columns
    from pg_attribute where attrelid = to_regclass('settings') and attnum > 0`);
  const columns: string[] | null = found[0].columns;
  if (columns === null) return undefined;
  if (columns.join() !== 'name,value') refuse(notOurs);
  const { rows } = await client.query('select name, value from settings');
  const settings = new Map(rows.map(({ name, value }) => [name, value]));
  if (!settings.has('environment') || !settings.has('schema')) refuse(notOurs);
  return { environment: settings.get('environment'), version: Number(settings.get('schema')) };
}

type Traits = Record<'version' | 'version_name' | 'encoding', string>;

/** Properties of a database that a migration cannot change. */
export async function traitsOf(client: Client): Promise<Traits> {
  const { rows } = await client.query(`
    select current_setting('server_version_num') as version,
      current_setting('server_version') as version_name, current_setting('server_encoding') as encoding`);
  return rows[0];
}

export function faultOfServer({ version, version_name, encoding }: Traits): Fault | undefined {
  if (Number(version) < oldestServer) {
    return { fact: `The database is Postgres ${version_name}`, remedy: 'use version 15 or later' };
  }
  if (encoding !== 'UTF8') {
    return { fact: `The database's encoding is ${encoding}`, remedy: 'create it with encoding UTF8' };
  }
  return undefined;
}

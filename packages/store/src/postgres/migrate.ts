import { randomBytes } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { postgresBounds } from '@partner-network/common/bounds/store';
import { OperatorError } from '@partner-network/common/errors';
import { toTime } from '@partner-network/common/times';
import type { Environment } from '@partner-network/contract/environments';
import { type Client, DatabaseError } from 'pg';
import type { Migration } from '../port.ts';
import {
  type Migrations,
  migrationsIn,
  requireOurs,
  requireUpdated,
  type Stamp,
  Unusable,
  usableVersion,
} from '../sql/schema.ts';
import { begin } from './connections/connection.ts';

export const migrations = migrationsIn(new URL('./migrations/', import.meta.url));

/** Postgres 15, as `server_version_num` writes it. */
const oldestServer = 150_000;
const lockNotAvailable = '55P03';

/** Only one migration of a database runs at a time. "PNet" is the lock. */
const tryLock = `select pg_try_advisory_lock(${0x504e6574}) as taken`;
const unlock = `select pg_advisory_unlock(${0x504e6574})`;

/** Limits the wait for a table in use, because all later statements on it wait behind the migration. */
const limitLocks = `set local lock_timeout = ${postgresBounds.migrationLockMs}`;

/** Citus refuses to change shards in parallel after a table that is on every node. Others ignore this. */
const oneNodeAtATime = `set local citus.multi_shard_modify_mode = 'sequential'`;

/**
 * Brings the database to the current schema, one file at a time, and then runs `last`. Safe to repeat after
 * any interruption, and to run on many machines at once. The caller closes the client after an error, which
 * releases the lock.
 */
export async function migrate(
  client: Client,
  environment: Environment,
  { scripts, current }: Migrations = migrations,
  last: () => Promise<unknown> = async () => {},
): Promise<Migration> {
  await requireServer(client);
  await takeTurn(client);
  const from = await inTransaction(client, async () =>
    usableVersion(await stampOf(client), environment, current),
  );
  for (let version = from + 1; version <= current; version += 1) {
    try {
      await apply(client, version, environment, statementsOf(scripts[version - 1]!()));
    } catch (error) {
      if (!(error instanceof DatabaseError)) throw error;
      const reason =
        error.code === lockNotAvailable
          ? 'another session has locked a table (see pg_stat_activity). Run "partner-network migrate" again'
          : `migration ${version} failed (${error.message}, ${error.code})`;
      throw new OperatorError(`The schema stays at ${version - 1}: ${reason}.`);
    }
  }
  await last();
  await client.query(unlock);
  return { from, to: current };
}

/** Polls: a statement that waits holds a snapshot, and building an index concurrently waits for that. */
async function takeTurn(client: Client): Promise<void> {
  const deadlineMs = performance.now() + postgresBounds.migrationWaitMs;
  while (!(await client.query(tryLock)).rows[0].taken) {
    if (performance.now() > deadlineMs) {
      throw new OperatorError(
        'Another migration of this database is running. Run "partner-network migrate" again when it has ended.',
      );
    }
    await setTimeout(postgresBounds.migrationPollMs);
  }
}

/** A file runs in one transaction, or, if it builds indexes concurrently, statement by statement. */
async function apply(
  client: Client,
  version: number,
  environment: Environment,
  statements: readonly string[],
): Promise<void> {
  // One at a time: distributed tables refuse several statements in one query.
  if (statements.some((statement) => indexBuilt(statement) !== undefined)) {
    for (const statement of statements) await buildIndex(client, statement);
    await client.query(setVersion, [String(version)]);
    return;
  }
  await inTransaction(client, async () => {
    for (const statement of statements) await client.query(statement);
    if (version === 1) await stamp(client, environment);
    await client.query(setVersion, [String(version)]);
  });
}

/** The name of the index that a statement builds concurrently. */
function indexBuilt(statement: string): string | undefined {
  return /^create (?:unique )?index concurrently if not exists (\w+) /i.exec(statement)?.[1];
}

/**
 * Builds an index while others write to the table. It waits for older transactions without a limit: nothing
 * but other schema changes queues behind it. An interrupted build leaves an invalid index, which is removed.
 */
async function buildIndex(client: Client, statement: string): Promise<void> {
  const index = indexBuilt(statement);
  const isInvalid = 'select from pg_index where indexrelid = to_regclass($1) and not indisvalid';
  if ((await client.query(isInvalid, [index])).rowCount === 1) {
    await client.query(`drop index concurrently if exists ${index}`);
  }
  await client.query(statement);
}

/** The caller rolls back after an error, or closes the client. */
export async function inTransaction<T>(client: Client, work: () => Promise<T>): Promise<T> {
  await client.query(begin);
  // For this transaction only: behind a pooler the session then serves another client.
  await client.query(limitLocks);
  await client.query(oneNodeAtATime);
  const result = await work();
  await client.query('commit');
  return result;
}

/** Rejects a database that is not at the current schema. */
export async function requireCurrent(
  client: Client,
  environment: Environment,
  { current }: Migrations = migrations,
): Promise<Migration> {
  await requireServer(client);
  const version = await inTransaction(client, async () =>
    usableVersion(await stampOf(client), environment, current),
  );
  requireUpdated(version, current);
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
  requireOurs(columns.join() === 'name,value');
  const { rows } = await client.query('select name, value from settings');
  const settings = new Map(rows.map(({ name, value }) => [name, value]));
  requireOurs(settings.has('environment') && settings.has('schema'));
  return { environment: settings.get('environment'), version: Number(settings.get('schema')) };
}

/** Rejects a database with a property that a migration cannot change. Returns the version of the server. */
export async function requireServer(client: Client): Promise<string> {
  const { rows } = await client.query(`
    select current_setting('server_version_num') as number,
      current_setting('server_version') as version, current_setting('server_encoding') as encoding`);
  const { number, version, encoding } = rows[0];
  if (Number(number) < oldestServer) {
    throw new Unusable(`The database is Postgres ${version}`, 'use version 15 or later');
  }
  if (encoding !== 'UTF8') {
    throw new Unusable(`The database's encoding is ${encoding}`, 'create it with encoding UTF8');
  }
  return version;
}

/** Quoted text, comments and semicolons: the parts of a script that decide where a statement ends. */
const part = /--[^\n]*|\/\*.*?\*\/|'[^']*'|"[^"]*"|(\$\w*\$).*?\1|;|./gs;

/** The statements of an SQL script, without comments. A semicolon in quotes does not end one. */
export function statementsOf(script: string): string[] {
  const statements = [''];
  for (const [text] of script.matchAll(part)) {
    if (text === ';') statements.push('');
    else if (!/^(--|\/\*)/.test(text)) statements[statements.length - 1] += text;
  }
  return statements.flatMap((statement) => statement.trim() || []);
}

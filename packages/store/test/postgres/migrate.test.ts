import assert from 'node:assert/strict';
import { test } from 'node:test';
import type pg from 'pg';
import { until } from '../../../testkit/fixtures/lifetime.ts';
import { assertFailed, run } from '../../../testkit/fixtures/run.ts';
import { freePort } from '../../../testkit/servers/free-port.ts';
import {
  connectTo,
  emptyDatabase,
  startPostgres,
  startStandby,
  withoutOwnServers,
} from '../../../testkit/servers/postgres.ts';
import { migratedDatabase } from '../../../testkit/service/database.ts';
import type { Migration } from '../../src/port.ts';
import { requireCurrent } from '../../src/postgres/migrate.ts';
import { followedBy, isOperatorError, migrateOn, next, ours } from './migrate-scene.ts';

/** Everything that a migration may change: columns, indexes and settings. */
async function stateOf(client: pg.Client): Promise<unknown> {
  const { rows } = await client.query(`
    select attrelid::regclass::text as relation, array_agg(attname::text order by attnum) as columns
    from pg_attribute join pg_class on pg_class.oid = attrelid
    where relnamespace = 'public'::regnamespace and attnum > 0
    group by attrelid order by 1`);
  const hasSettings = rows.some(({ relation }) => relation === 'settings');
  const settings = hasSettings ? (await client.query('select * from settings order by 1')).rows : [];
  return { rows, settings };
}

/** Runs commands on the database, and expects each of them to fail with this message. */
async function assertAllFail(url: string, commands: string[][], message: RegExp, ...words: string[]) {
  for (const finished of await Promise.all(
    commands.map((command) => run([...command, '--database', url, ...words])),
  )) {
    assertFailed(finished, 1, message);
  }
}

const serve = ['serve', '--port', '0', '--ops-port', '0'];
const listPartners = ['partners', 'list'];
const sandbox = ['--environment', 'sandbox'];

test('gives up on a locked table without changing anything, and works when it is free', async (t) => {
  const url = await migratedDatabase(t);
  const holder = await connectTo(t, url);
  const before = await stateOf(holder);
  await holder.query('begin; select 1 from brands');
  const migrations = followedBy('alter table partners add note text; alter table brands add note text');
  const startedMs = performance.now();
  await assert.rejects(
    migrateOn(url, migrations),
    isOperatorError(
      /^The schema stays at \d+: another session has locked a table .* Run "partner-network migrate" again/,
    ),
  );
  const tookMs = performance.now() - startedMs;
  assert.ok(tookMs > 1_900 && tookMs < 5_000, `${tookMs} ms`);
  await holder.query('rollback');
  assert.deepEqual(await stateOf(holder), before);
  assert.deepEqual(await migrateOn(url, migrations), { from: ours.current, to: next });
});

test('no command waits forever for a locked settings table', async (t) => {
  const url = await migratedDatabase(t);
  const holder = await connectTo(t, url);
  await holder.query('begin; lock table settings in access exclusive mode');
  const message = /^The database cannot answer now .*lock timeout.*\.\n$/;
  await assertAllFail(url, [serve, ['migrate'], listPartners], message, ...sandbox);
});

test('a failed migration leaves schema and version unchanged, and is named', async (t) => {
  const url = await migratedDatabase(t);
  const client = await connectTo(t, url);
  const before = await stateOf(client);
  // In the script, and when the new version is written.
  for (const fault of ['select 1 / 0', `alter table settings add check (value <> '${next}')`]) {
    await assert.rejects(
      migrateOn(url, followedBy(`alter table brands add note text; ${fault}`)),
      isOperatorError(new RegExp(`^The schema stays at ${ours.current}: migration ${next} failed \\(`)),
    );
    assert.deepEqual(await stateOf(client), before);
  }
  assert.deepEqual(await migrateOn(url), { from: ours.current, to: ours.current });
});

test('a migration that fails keeps the ones before it, and says so', async (t) => {
  const url = await migratedDatabase(t);
  const client = await connectTo(t, url);
  const { scripts } = followedBy('alter table brands add note text');
  const migrations = { scripts: [...scripts, () => 'select 1 / 0'], current: next + 1 };
  const message = new RegExp(
    `^The schema stays at ${next}: migration ${next + 1} failed \\(division by zero`,
  );
  await assert.rejects(migrateOn(url, migrations), isOperatorError(message));
  const { rows } = await client.query(`select value from settings where name = 'schema'`);
  assert.deepEqual(rows, [{ value: String(next) }]);
  assert.deepEqual(await migrateOn(url, { scripts, current: next }), { from: next, to: next });
});

test('every command rejects a schema of a newer program, and leaves it unchanged', async (t) => {
  const url = await migratedDatabase(t);
  const client = await connectTo(t, url);
  await client.query(`update settings set value = '999' where name = 'schema'`);
  const before = await stateOf(client);
  const message = /^The database has schema 999, .* use the newer version of this program\.\n$/;
  await assertAllFail(url, [serve, ['migrate'], listPartners], message, ...sandbox);
  assert.deepEqual(await stateOf(client), before);
});

test('without a schema, commands fail and name the command that creates it', async (t) => {
  const url = await emptyDatabase(t);
  const message = /^The database has no schema yet: run "partner-network migrate" first\.\n$/;
  await assertAllFail(url, [serve, listPartners], message);
  const { rows } = (await stateOf(await connectTo(t, url))) as { rows: unknown[] };
  assert.deepEqual(rows, []);
});

test('rejects a schema of an older program', async (t) => {
  const client = await connectTo(t, await migratedDatabase(t));
  await assert.rejects(
    requireCurrent(client, 'sandbox', followedBy('')),
    isOperatorError(
      new RegExp(`has schema ${ours.current}, but this program needs ${next}: run "partner-network migrate"`),
    ),
  );
});

const strangers = {
  'with other columns': `create table settings (id integer, name text); insert into settings values (1, 'x')`,
  'with the same columns': `create table settings (name text, value text); insert into settings values ('a', 'b')`,
  'with a version of its own': `create table settings (name text, value text); insert into settings values ('schema', '1')`,
};

for (const [which, script] of Object.entries(strangers)) {
  test(`leaves another program's settings unchanged, ${which}`, async (t) => {
    const url = await emptyDatabase(t);
    const client = await connectTo(t, url);
    await client.query(script);
    const before = await stateOf(client);
    const refused = isOperatorError(/^This database belongs to another program/);
    await assert.rejects(migrateOn(url), refused);
    await assert.rejects(requireCurrent(client, 'sandbox'), refused);
    assert.deepEqual(await stateOf(client), before);
  });
}

test('rejects a database whose encoding is not UTF8', async (t) => {
  const url = await emptyDatabase(t, `encoding 'LATIN1' locale 'C'`);
  assertFailed(await run(['migrate', '--database', url]), 1, /encoding is LATIN1: .* UTF8\.\n$/);
});

test('rejects a standby instead of the primary, and finds the primary among two servers', {
  skip: withoutOwnServers(),
}, async (t) => {
  const primary = await startPostgres(t);
  const standby = await startStandby(t, primary);
  const finished = await run(['migrate', '--database', standby.url()]);
  assertFailed(
    finished,
    1,
    /^Cannot open the database at 127\.0\.0\.1:\d+ \(it is a standby; name the primary\)\. Check .*\n$/,
  );
  const both = `postgres://postgres@127.0.0.1:${standby.port},127.0.0.1:${primary.port}/postgres`;
  const { status, stderr } = await run(['migrate', '--database', both]);
  assert.deepEqual({ status, stderr }, { status: 0, stderr: '' });
});

test('reports in a sentence that a server cannot be reached, without the password', async () => {
  const [one, other] = [await freePort(), await freePort()];
  const url = `postgres://network:s3cret-word@127.0.0.1:${one},127.0.0.1:${other}/network`;
  const at = '127\\.0\\.0\\.1:\\d+';
  // On a busy machine the second for a connection can end before the kernel's answer is read.
  const miss = `${at} \\((connect ECONNREFUSED ${at}|timeout expired)\\)`;
  const message = new RegExp(
    `^Cannot open the database at ${miss} or ${miss}\\. Check --database, or find the cause with .*\n$`,
  );
  await assertAllFail(url, [serve, ['migrate']], message);
});

// The last test, because by then compiled code of the processes is in the cache.
test('migrates once when ten migrate at the same time, two of them processes', async (t) => {
  const url = await emptyDatabase(t);
  const client = await connectTo(t, url);
  // The lock of a migration: all ten wait for it, and start at once when it is released.
  await client.query(`select pg_advisory_lock(${0x504e6574})`);
  const words = ['migrate', '--json', '--environment', 'sandbox', '--database', url];
  const processes = Promise.all(Array.from({ length: 2 }, () => run(words)));
  const others = Promise.all(Array.from({ length: 8 }, () => migrateOn(url)));
  const connected = 'select count(*)::integer from pg_stat_activity where datname = current_database()';
  await until(20_000, async () => (await client.query(connected)).rows[0].count === 11);
  await client.query(`select pg_advisory_unlock(${0x504e6574})`);
  const ended = await processes;
  for (const { status, stderr } of ended) assert.deepEqual({ status, stderr }, { status: 0, stderr: '' });
  const migrations = [...(await others), ...ended.map(({ stdout }) => JSON.parse(stdout) as Migration)];
  const froms = migrations.map(({ from }) => from).toSorted();
  assert.deepEqual(froms, [0, ...Array(9).fill(ours.current)]);
  const { rows } = await client.query('select count(*)::integer as keys from cursor_keys');
  assert.equal(rows[0].keys, 1);
});

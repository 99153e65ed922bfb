import assert from 'node:assert/strict';
import { test } from 'node:test';
import pg from 'pg';
import { migratedDatabase } from '../../../../testkit/fixtures/database.ts';
import { assertFailed, run } from '../../../../testkit/fixtures/run.ts';
import { until } from '../../../../testkit/fixtures/until.ts';
import { freePort } from '../../../../testkit/servers/free-port.ts';
import {
  connectTo,
  emptyDatabase,
  startPostgres,
  startStandby,
  withoutOwnServers,
} from '../../../../testkit/servers/postgres.ts';
import { OperatorError } from '../../../src/lib/operator-error.ts';
import type { Migration } from '../../../src/store/port.ts';
import { migrate, requireCurrent } from '../../../src/store/postgres/migrate.ts';
import { type Migrations, migrationsIn } from '../../../src/store/sql/schema.ts';

const ours = migrationsIn(new URL('../../../src/store/postgres/migrations/', import.meta.url));
const next = ours.current + 1;

/** Our migrations and one more. */
function followedBy(script: string): Migrations {
  return { scripts: [...ours.scripts, () => script], current: next };
}

/** On a connection of its own, as the command does it. */
async function migrateOn(url: string, migrations?: Migrations): Promise<Migration> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    return await migrate(client, 'sandbox', migrations);
  } finally {
    await client.end();
  }
}

function isOperatorError(pattern: RegExp) {
  return (error: unknown) => {
    assert.ok(error instanceof OperatorError, String(error));
    assert.match(error.message, pattern);
    return true;
  };
}

/** What a migration may have changed: all columns and indexes, and what the settings say. */
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

function serve(url: string, ...words: string[]) {
  return run(['serve', '--port', '0', '--ops-port', '0', '--database', url, ...words]);
}

test('gives up on a table that is locked, having changed nothing, and works when it is free', async (t) => {
  const url = await migratedDatabase(t);
  const holder = await connectTo(t, url);
  const before = await stateOf(holder);
  await holder.query('begin; select 1 from brands');
  const migrations = followedBy('alter table partners add note text; alter table brands add note text');
  const startedMs = performance.now();
  await assert.rejects(
    migrateOn(url, migrations),
    isOperatorError(
      /^The schema stays at \d+: somebody keeps a table locked .* run "partner-network migrate" again/,
    ),
  );
  const tookMs = performance.now() - startedMs;
  assert.ok(tookMs > 1_900 && tookMs < 5_000, `${tookMs} ms`);
  await holder.query('rollback');
  assert.deepEqual(await stateOf(holder), before);
  assert.deepEqual(await migrateOn(url, migrations), { from: ours.current, to: next });
});

test('says so by the command, too, when somebody else has half made what it is to make', async (t) => {
  const url = await emptyDatabase(t);
  const holder = await connectTo(t, url);
  await holder.query('begin; create table partners (id text)');
  const finished = await run(['migrate', '--database', url]);
  assertFailed(finished, 1, /^The schema stays at 0: somebody keeps a table locked .*\.\n$/);
  await holder.query('rollback');
  assert.equal((await run(['migrate', '--database', url])).status, 0);
});

test('does not wait for ever for a version that somebody keeps locked', async (t) => {
  const url = await migratedDatabase(t);
  const holder = await connectTo(t, url);
  await holder.query('begin; lock table settings in access exclusive mode');
  for (const finished of await Promise.all([
    serve(url, '--environment', 'sandbox'),
    run(['migrate', '--environment', 'sandbox', '--database', url]),
    run(['partners', 'list', '--environment', 'sandbox', '--database', url]),
  ])) {
    assertFailed(finished, 1, /^The database cannot answer now .*lock timeout.*\.\n$/);
  }
});

test('leaves schema and version as they were when a migration fails, and says which', async (t) => {
  const url = await migratedDatabase(t);
  const client = await connectTo(t, url);
  const before = await stateOf(client);
  // In the script, and when the new version is written down.
  for (const fault of ['select 1 / 0', `alter table settings add check (value <> '${next}')`]) {
    await assert.rejects(
      migrateOn(url, followedBy(`alter table brands add note text; ${fault}`)),
      isOperatorError(new RegExp(`^The schema stays at ${ours.current}: migration ${next} failed \\(`)),
    );
    assert.deepEqual(await stateOf(client), before);
  }
  assert.deepEqual(await migrateOn(url), { from: ours.current, to: ours.current });
});

const concurrently = `
  -- A comment; with a semicolon.
  drop index concurrently if exists brands_by_name;
  create unique index concurrently brands_by_name
    on brands (name);
`;

async function isValid(client: pg.Client): Promise<boolean | undefined> {
  const { rows } = await client.query(
    `select indisvalid from pg_index where indexrelid = to_regclass('brands_by_name')`,
  );
  return rows[0]?.indisvalid;
}

test('builds an index concurrently outside of a transaction, also when ten want to at once', async (t) => {
  const url = await migratedDatabase(t);
  const ended = await Promise.all(Array.from({ length: 10 }, () => migrateOn(url, followedBy(concurrently))));
  assert.deepEqual(ended.map(({ from }) => from).toSorted(), [ours.current, ...Array(9).fill(next)]);
  assert.equal(await isValid(await connectTo(t, url)), true);
});

test('waits for a transaction of others when it builds concurrently, for nobody waits for it', async (t) => {
  const url = await migratedDatabase(t);
  const holder = await connectTo(t, url);
  await holder.query('begin; select 1 from brands');
  const migrated = migrateOn(url, followedBy(concurrently));
  await holder.query('select pg_sleep(2.2)');
  await holder.query('commit');
  assert.equal((await migrated).to, next);
});

test('a concurrent build that failed half-way is dropped and built again the next time', async (t) => {
  const url = await migratedDatabase(t);
  const client = await connectTo(t, url);
  await client.query(`
    insert into partners (id, name, created_at) values ('acme', 'Acme', now());
    insert into brands (partner_id, id, name, reference_id, created_at, updated_at)
    values ('acme', 'a', 'Twin', 'ref', now(), now()), ('acme', 'b', 'Twin', 'ref', now(), now())`);
  const again = () => migrateOn(url, followedBy(concurrently));
  await assert.rejects(again(), isOperatorError(/could not create unique index/));
  assert.equal(await isValid(client), false);
  await assert.rejects(again(), isOperatorError(/could not create unique index/));
  await client.query(`delete from brands where id = 'b'`);
  assert.deepEqual(await again(), { from: ours.current, to: next });
  assert.equal(await isValid(client), true);
});

test('refuses a schema of a newer program, whatever the command, and leaves it as it is', async (t) => {
  const url = await migratedDatabase(t);
  const client = await connectTo(t, url);
  await client.query(`update settings set value = '999' where name = 'schema'`);
  const before = await stateOf(client);
  const sandbox = ['--environment', 'sandbox'];
  for (const finished of await Promise.all([
    serve(url, ...sandbox),
    run(['migrate', '--database', url, ...sandbox]),
    run(['partners', 'list', '--database', url, ...sandbox]),
  ])) {
    assertFailed(finished, 1, /^The database has schema 999 .* run the newer program\.\n$/);
  }
  assert.deepEqual(await stateOf(client), before);
});

test('serves and commands nothing on a database without a schema, and names the command', async (t) => {
  const url = await emptyDatabase(t);
  for (const finished of await Promise.all([serve(url), run(['partners', 'list', '--database', url])])) {
    assertFailed(
      finished,
      1,
      /^The database has no schema yet: run "partner-network migrate" on it first\.\n$/,
    );
  }
  const { rows } = (await stateOf(await connectTo(t, url))) as { rows: unknown[] };
  assert.deepEqual(rows, []);
});

test('refuses to serve on a schema of an older program', async (t) => {
  const client = await connectTo(t, await migratedDatabase(t));
  await assert.rejects(
    requireCurrent(client, 'sandbox', followedBy('')),
    isOperatorError(new RegExp(`has schema ${ours.current}, not ${next}: run "partner-network migrate"`)),
  );
});

test('refuses a database of the other environment, whatever the command', async (t) => {
  const url = await migratedDatabase(t);
  for (const finished of await Promise.all([
    serve(url),
    run(['migrate', '--database', url]),
    run(['partners', 'list', '--database', url]),
  ])) {
    assertFailed(finished, 1, /^This is a sandbox database .* --environment sandbox/);
  }
});

const strangers = {
  'with other columns': `create table settings (id integer, name text); insert into settings values (1, 'x')`,
  'with the same columns': `create table settings (name text, value text); insert into settings values ('a', 'b')`,
  'with a version of its own': `create table settings (name text, value text); insert into settings values ('schema', '1')`,
};

for (const [which, script] of Object.entries(strangers)) {
  test(`leaves another program's settings as they are, ${which}`, async (t) => {
    const url = await emptyDatabase(t);
    const client = await connectTo(t, url);
    await client.query(script);
    const before = await stateOf(client);
    const refused = isOperatorError(/^This is another program's database/);
    await assert.rejects(migrateOn(url), refused);
    await assert.rejects(requireCurrent(client, 'sandbox'), refused);
    assert.deepEqual(await stateOf(client), before);
  });
}

test("refuses a database whose encoding cannot hold everybody's names", async (t) => {
  const url = await emptyDatabase(t, `encoding 'LATIN1' locale 'C'`);
  assertFailed(await run(['migrate', '--database', url]), 1, /encoding is LATIN1: .* UTF8\.\n$/);
});

test('refuses a standby in the place of the primary, and takes the primary of two', {
  skip: withoutOwnServers(),
}, async (t) => {
  const primary = await startPostgres(t);
  const standby = await startStandby(t, primary);
  const finished = await run(['migrate', '--database', standby.url()]);
  assertFailed(
    finished,
    1,
    /^Cannot open the database at 127\.0\.0\.1:\d+ \(it is a standby: name the primary\)\.\n$/,
  );
  const both = `postgres://postgres@127.0.0.1:${standby.port},127.0.0.1:${primary.port}/postgres`;
  const { status, stderr } = await run(['migrate', '--database', both]);
  assert.deepEqual({ status, stderr }, { status: 0, stderr: '' });
});

test('says in a sentence that a server cannot be reached, without the password', async () => {
  const [one, other] = [await freePort(), await freePort()];
  const url = `postgres://network:s3cret-word@127.0.0.1:${one},127.0.0.1:${other}/network`;
  const said =
    /^Cannot open the database at 127\.0\.0\.1:\d+ \(.*ECONNREFUSED.*\), nor at 127\.0\.0\.1:\d+ \(.*\)\.\n$/;
  for (const finished of await Promise.all([serve(url), run(['migrate', '--database', url])])) {
    assertFailed(finished, 1, said);
    assert.doesNotMatch(finished.stderr, /s3cret/);
  }
});

// The last one, when the processes before have left compiled code for these.
test('migrates once when twenty migrate at the same time, five of them processes', async (t) => {
  const url = await emptyDatabase(t);
  const client = await connectTo(t, url);
  // The lock of whoever migrates, which all of them want when it is let go.
  await client.query(`select pg_advisory_lock(${0x504e6574})`);
  const words = ['migrate', '--json', '--environment', 'sandbox', '--database', url];
  const processes = Promise.all(Array.from({ length: 5 }, () => run(words)));
  const others = Promise.all(Array.from({ length: 15 }, () => migrateOn(url)));
  const connected = 'select count(*)::integer from pg_stat_activity where datname = current_database()';
  await until(20_000, async () => (await client.query(connected)).rows[0].count === 21);
  await client.query(`select pg_advisory_unlock(${0x504e6574})`);
  const ended = await processes;
  for (const { status, stderr } of ended) assert.deepEqual({ status, stderr }, { status: 0, stderr: '' });
  const migrations = [...(await others), ...ended.map(({ stdout }) => JSON.parse(stdout) as Migration)];
  const froms = migrations.map(({ from }) => from).toSorted();
  assert.deepEqual(froms, [0, ...Array(19).fill(ours.current)]);
  const { rows } = await client.query('select count(*)::integer as keys from cursor_keys');
  assert.equal(rows[0].keys, 1);
});

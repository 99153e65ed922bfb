import assert from 'node:assert/strict';
import { test } from 'node:test';
import type pg from 'pg';
import { until } from '../../../testkit/fixtures/lifetime.ts';
import { connectTo } from '../../../testkit/servers/postgres.ts';
import { migratedDatabase } from '../../../testkit/service/database.ts';
import { migrate } from '../../src/postgres/migrate.ts';
import { followedBy, isOperatorError, migrateOn, next, ours } from './migrate-scene.ts';

const buildIndexes = `
  create index concurrently if not exists brands_by_name on brands (name);
  create index concurrently if not exists brands_by_color on brands (color);`;

/** The indexes that the migration above builds, by name: whether they are complete. */
async function builtIndexes(client: pg.Client): Promise<unknown> {
  const { rows } = await client.query(`
    select indexrelid::regclass::text as name, indisvalid as valid
    from pg_index where indexrelid::regclass::text in ('brands_by_name', 'brands_by_color') order by 1`);
  return Object.fromEntries(rows.map(({ name, valid }) => [name, valid]));
}

test('indexes are built while others write, and again after an interrupted build', async (t) => {
  const url = await migratedDatabase(t);
  const holder = await connectTo(t, url);
  // A transaction that wrote to the table, for which the build has to wait.
  await holder.query('begin');
  await holder.query(`insert into partners (id, name, created_at) values ('one', 'One', now())`);
  await holder.query(`insert into brands (partner_id, id, name, created_at, updated_at, reference_id)
    values ('one', 'BRAND_1', 'One', now(), now(), 'r')`);
  const builder = await connectTo(t, url);
  const interrupted = assert.rejects(migrate(builder, 'sandbox', followedBy(buildIndexes)));
  const watcher = await connectTo(t, url);
  const building =
    'from pg_stat_progress_create_index where datname = current_database() and lockers_total > 0';
  await until(20_000, async () => (await watcher.query(`select 1 ${building}`)).rowCount === 1);
  // Others can write and migrate meanwhile; a second migration waits for its turn without harm.
  await watcher.query(`insert into partners (id, name, created_at) values ('two', 'Two', now())`);
  const waiting = migrateOn(url, followedBy(buildIndexes));
  await watcher.query(`select pg_terminate_backend(pid) ${building}`);
  await interrupted;
  assert.deepEqual(await builtIndexes(watcher), { brands_by_name: false });
  await holder.query('commit');
  assert.deepEqual(await waiting, { from: ours.current, to: next });
  assert.deepEqual(await builtIndexes(watcher), { brands_by_name: true, brands_by_color: true });
});

test('two migrations that build indexes at once do not deadlock', async (t) => {
  const url = await migratedDatabase(t);
  const migrations = followedBy(buildIndexes);
  const results = await Promise.all(Array.from({ length: 5 }, () => migrateOn(url, migrations)));
  assert.deepEqual(
    results.map(({ from }) => from).toSorted((one, other) => one - other),
    [ours.current, next, next, next, next],
  );
});

test('an index that cannot be built is named, and the version stays', async (t) => {
  const url = await migratedDatabase(t);
  const client = await connectTo(t, url);
  await client.query(`insert into partners (id, name, created_at)
    select id, 'Same', now() from unnest(array['one', 'two']) as id`);
  const unique = 'create unique index concurrently if not exists brands_by_name on partners (name)';
  const message = new RegExp(
    `^The schema stays at ${ours.current}: migration ${next} failed \\(.*brands_by_name`,
  );
  // The second time, the invalid index of the first is removed before.
  for (const _ of [1, 2]) {
    await assert.rejects(migrateOn(url, followedBy(unique)), isOperatorError(message));
  }
  await client.query(`update partners set name = id`);
  assert.deepEqual(await migrateOn(url, followedBy(unique)), { from: ours.current, to: next });
  assert.deepEqual(await builtIndexes(client), { brands_by_name: true });
});

/** The migrations of a later version run on tables that are distributed and have rows. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type pg from 'pg';
import {
  followedBy,
  isOperatorError,
  migrateOn,
  next,
  ours,
} from '../../../packages/store/test/postgres/migrate-scene.ts';
import { connectTo } from '../../../packages/testkit/servers/postgres.ts';
import { fixtureDatabase, openServing } from '../../../packages/testkit/service/database.ts';

/** How many shards of the table there are for each result of the query, in which %s is the shard. */
async function onShards(client: pg.Client, table: string, query: string): Promise<Record<string, number>> {
  const { rows } = await client.query(
    'select result, count(*)::integer as shards from run_command_on_shards($1, $2) group by result',
    [table, query],
  );
  return Object.fromEntries(rows.map(({ result, shards }) => [result, shards]));
}

const hasNote = `select count(*) from pg_attribute where attrelid = '%s'::regclass and attname = 'note'`;
const builtIndexes = `select count(*) from pg_index join pg_class on oid = indexrelid
  where indrelid = '%s'::regclass and relname like '%%_by_note%%' and indisvalid`;

test('a migration adds columns, checks, indexes and tables, and updates all rows', async (t) => {
  const url = await fixtureDatabase(t);
  const client = await connectTo(t, url);
  const migrations = followedBy(`
    alter table brands add note text;
    alter table brands add constraint brands_note_check check (char_length(note) <= 1024);
    update brands set note = name;
    create index brands_by_note on brands (partner_id, note);
    alter table balances add note text;
    update balances set note = currency;
    alter table grants add note text;
    update grants set note = status;
    alter table partners add note text;
    update partners set note = name;
    create table notes (partner_id text references partners (id), note text not null);
    insert into notes select id, name from partners`);
  assert.deepEqual(await migrateOn(url, migrations), { from: ours.current, to: next });
  for (const [table, column] of Object.entries({ brands: 'name', balances: 'currency', grants: 'status' })) {
    const { rows } = await client.query(
      `select count(*)::integer as rows, count(*) filter (where note = ${column})::integer as noted from ${table}`,
    );
    assert.ok(rows[0].rows > 0);
    assert.equal(rows[0].noted, rows[0].rows, table);
    assert.deepEqual(await onShards(client, table, hasNote), { 1: 4 });
  }
  assert.deepEqual(await onShards(client, 'brands', builtIndexes), { 1: 4 });
  const violation = { code: '23514' };
  await assert.rejects(client.query(`update brands set note = repeat('x', 1025)`), violation);
  const { rows } = await client.query(
    'select count(*)::integer as count from notes join partners on id = partner_id',
  );
  assert.equal(rows[0].count, 3);
});

test('a migration builds indexes on all shards while others write', async (t) => {
  const url = await fixtureDatabase(t);
  const client = await connectTo(t, url);
  const writer = await connectTo(t, url);
  let isBuilt = false;
  let writes = 0;
  const writing = (async () => {
    for (; !isBuilt; writes += 1) await writer.query('update balances set amount = amount - sign(amount)');
  })();
  const migrations = followedBy(
    'create index concurrently if not exists balances_by_note on balances (customer_id, amount)',
  );
  assert.deepEqual(await migrateOn(url, migrations), { from: ours.current, to: next });
  isBuilt = true;
  await writing;
  assert.ok(writes > 0);
  assert.deepEqual(await onShards(client, 'balances', builtIndexes), { 1: 4 });
});

test('a migration that fails changes no shard, and the database is still served', async (t) => {
  const url = await fixtureDatabase(t);
  const client = await connectTo(t, url);
  await assert.rejects(
    migrateOn(
      url,
      followedBy('alter table brands add note text; update brands set note = name; select 1 / 0'),
    ),
    isOperatorError(new RegExp(`^The schema stays at ${ours.current}: migration ${next} failed \\(division`)),
  );
  assert.deepEqual(await onShards(client, 'brands', hasNote), { 0: 4 });
  const store = await openServing(t, url);
  const page = await store.listBrands({
    partnerId: 'acme',
    referenceId: undefined,
    after: '',
    limit: 9,
  });
  assert.match(page.records, /"id":"b3"/);
});

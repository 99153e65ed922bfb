/** The large tables can be distributed over many nodes: the schema has nothing that Citus rejects. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type pg from 'pg';
import { pluck } from '../../../testkit/fixtures/pluck.ts';
import { connectTo } from '../../../testkit/servers/postgres.ts';
import { migratedDatabase } from '../../../testkit/service/database.ts';
import { onCoordinator, places } from '../../src/postgres/distribution/tables.ts';

/** Stays on one node, with its sequence and triggers. */
const withSequence = 'audit_log';
/** Read and change only their own row. Citus accepts them with the setting enable_unsafe_triggers. */
const acceptedTriggers = `('grants_only_shrink', 'partners_enabled_by_right', 'partners_limited_by_right')`;

/** These tables are on one node. */
const namesOnCoordinator = onCoordinator.map((table) => `'${table}'`).join();

/**
 * What a distributed engine rejects, or what would differ between nodes: a query in which each row is a
 * fault, and a change that causes it, to show that the query finds it.
 */
const faults: Readonly<Record<string, readonly [query: string, change: string]>> = {
  'a unique index that does not begin with the shard key': [
    `select i.indexrelid::regclass::text as name
    from pg_index i join spread s on i.indrelid = s.relation::regclass
    where (i.indisunique or i.indisexclusion)
      and s.shard_key is distinct from (
        select attname::text from pg_attribute where attrelid = i.indrelid and attnum = i.indkey[0]
      )`,
    'create unique index on brands (id, partner_id)',
  ],
  'a large table without a primary key': [
    `select relation as name from spread
    where not exists (select 1 from pg_index where indrelid = relation::regclass and indisprimary)`,
    'alter table grants drop constraint grants_pkey',
  ],
  'a reference to a distributed table': [
    'select conname as name from pg_constraint join spread on confrelid = relation::regclass',
    'create table notes (c text, g text, foreign key (c, g) references grants (customer_id, id))',
  ],
  'a trigger': [
    `select tgname as name from pg_trigger where tgrelid in (select oid from ours) and not tgisinternal
      and tgname not in ${acceptedTriggers}
      and tgrelid::regclass::text not in (${namesOnCoordinator})`,
    `create function nothing() returns trigger language plpgsql as 'begin return new; end';
    create trigger nothing before insert on brands for each row execute function nothing()`,
  ],
  'a sequence, a view, or a table of another kind': [
    `select relname as name from ours where relkind not in ('r', 'i')`,
    'create view names as select name from brands',
  ],
  'an identity column': [
    `select attname as name from pg_attribute where attrelid in (select oid from ours) and attidentity <> ''`,
    'alter table brands add line bigint generated always as identity',
  ],
  'a rule': [
    'select rulename as name from pg_rewrite where ev_class in (select oid from ours)',
    'create rule silent as on insert to brands do instead nothing',
  ],
  'a default that each node would calculate by itself': [
    `select attname as name from pg_attribute join pg_attrdef on adrelid = attrelid and adnum = attnum
    where attrelid in (select oid from ours) and attgenerated = ''
      and attrelid::regclass::text not in (${namesOnCoordinator})
      and pg_get_expr(adbin, adrelid) !~ $$^'[^']*'::text$$`,
    'alter table brands alter created_at set default now()',
  ],
  'a text that is not compared by bytes': [
    `select attrelid::regclass || '.' || attname as name from pg_attribute
    where attrelid in (select oid from ours where relkind = 'r') and attnum > 0
      and attcollation not in (0, '"C"'::regcollation)`,
    'alter table brands add slogan text',
  ],
};

async function found(client: pg.Client, query: string): Promise<string[]> {
  const spread = Object.entries(places).flatMap(([table, place]) =>
    place === 'every node' ? [] : [`('${table}', '${place.by}')`],
  );
  const { rows } = await client.query(`
    with spread (relation, shard_key) as (values ${spread.join(', ')}),
      ours as (
        select * from pg_class
        where relnamespace = 'public'::regnamespace and relname !~ '^${withSequence}'
      )
    ${query}`);
  return rows.map(({ name }) => name);
}

test('every table is distributed, or copied to every node, or stays on the coordinator', async (t) => {
  const client = await connectTo(t, await migratedDatabase(t));
  const { rows } = await client.query(
    `select tablename from pg_tables where schemaname = 'public' order by tablename collate "C"`,
  );
  const known = [...Object.keys(places), ...onCoordinator].toSorted();
  assert.deepEqual(pluck(rows, 'tablename'), known);
});

test('the schema has nothing that a distributed engine rejects', async (t) => {
  const client = await connectTo(t, await migratedDatabase(t));
  for (const [fault, [query, change]] of Object.entries(faults)) {
    assert.deepEqual(await found(client, query), [], fault);
    await client.query(`begin; ${change}`);
    assert.equal((await found(client, query)).length, 1, fault);
    await client.query('rollback');
  }
});

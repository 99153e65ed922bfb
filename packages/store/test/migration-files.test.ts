/** No migration after the first rewrites a large table, or locks it while it scans all of it. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { statementsOf } from '../src/postgres/migrate.ts';

/** Only rows that break a rule are repaired: they are few. */
const repair = /^update \w+ set created_at = updated_at where updated_at < created_at$/;
const createTable = /^create table (\w+) \(/;
const columnType = String.raw`\w+(\(\d+\))?( collate "c")?`;
const constant = String.raw`('[^']*'|-?\d+|true|false)`;
const concurrentIndex = /^create (unique )?index concurrently if not exists \w+ on /;

/**
 * All that a migration may do to a table that may be large, in lower case with single spaces. Add a form here
 * only if it neither writes nor reads all rows while others wait.
 */
const allowed = {
  postgres: [
    repair,
    createTable,
    concurrentIndex,
    /^(create|create or replace|drop) function /,
    /^create trigger /,
    /^set local /,
    // Any other default, an identity or a generated column is written into every row.
    new RegExp(`^alter table \\w+( add column \\w+ ${columnType}( default ${constant})?( not null)?,?)+$`),
    // A check of all rows that does not stop writes is a migration of its own.
    /^alter table \w+ add constraint \w+ (check|foreign key) .* not valid$/,
    /^alter table \w+ validate constraint \w+$/,
    /^alter table \w+ add constraint \w+ (unique|primary key) using index \w+$/,
    /^insert into settings \(name, value\) values /,
  ],
  // Nobody can write while a table is copied.
  sqlite: [repair, createTable, /^create (unique )?index /, /^alter table \w+ add column /],
};

/** The statements of a migration that are not allowed. */
function faultsOf(script: string, engine: keyof typeof allowed): string[] {
  // Triggers of SQLite have statements of their own, which write only what a program writes.
  const withoutTriggers = script.replace(/^create trigger .*?\bend;$/gims, '');
  const statements = statementsOf(withoutTriggers).map((text) => text.toLowerCase().replace(/\s+/g, ' '));
  // It is built without a transaction, so the migration does nothing else.
  const outside = statements.filter((statement) => concurrentIndex.test(statement));
  if (outside.length > 0 && outside.length < statements.length) return outside;
  // A table that the script creates is not large yet.
  const created = statements.flatMap((statement) => createTable.exec(statement)?.[1] ?? []);
  return statements.filter((statement) => {
    const table =
      /^(?:alter table|insert into|create (?:unique )?index \w+ on) (\w+)/.exec(statement)?.[1] ?? '';
    return !created.includes(table) && !allowed[engine].some((form) => form.test(statement));
  });
}

for (const [folder, engine] of [
  ['postgres/migrations', 'postgres'],
  ['sqlite/migrations', 'sqlite'],
  ['sqlite/receipts-migrations', 'sqlite'],
] as const) {
  test(`no migration in ${folder} after the first rewrites or locks a large table`, () => {
    const path = new URL(`../src/${folder}/`, import.meta.url);
    const [first, ...later] = readdirSync(path).toSorted();
    assert.equal(first, '001_initial.sql');
    for (const file of later) {
      assert.match(file, /^\d{3}_\w+\.sql$/);
      assert.deepEqual(faultsOf(readFileSync(new URL(file, path), 'utf8'), engine), [], file);
    }
  });
}

const index = 'create index concurrently if not exists i on t (c);';

test('a migration may do only what is known to be quick', () => {
  for (const statement of [
    ...['alter table t alter column c type text', 'alter table t add column c timestamptz default now()'],
    ...['alter table t add c bigserial', 'alter table t add column c text references u (id)'],
    ...['alter table t add column c text generated always as (name) stored', 'create table u as select 1'],
    ...['create index i on t (c)', 'create index concurrently i on t (c)', 'drop index i', 'lock table t'],
    ...['alter table t alter column c set not null', 'alter table t add constraint k check (c > 0)'],
    ...['alter table t add constraint k unique (c)', 'delete from t', 'update t set c = 1', 'vacuum full t'],
    ...['insert into u (id) select id from t', `${index} alter table t add column d text`],
  ]) {
    assert.equal(faultsOf(statement, 'postgres').length, 1, statement);
  }
  for (const statement of [
    'vacuum',
    'delete from t',
    'create table u as select 1',
    'alter table u rename to t',
  ]) {
    assert.equal(faultsOf(statement, 'sqlite').length, 1, statement);
  }
  for (const statement of [
    `alter table t add column c text collate "C" default 'none' not null, add column d integer default 0`,
    'create table n (c text); create index i on n (c); alter table n add unique (c)',
    `${index} ${index.replace(' i ', ' j ')}`,
  ]) {
    assert.deepEqual(faultsOf(statement, 'postgres'), [], statement);
  }
});

test('a script is split at semicolons, but not inside of quotes, comments and bodies of functions', () => {
  const pieces = [
    "create function f() returns text language sql as $$ select ';'; -- one; two\n$$",
    'create function g() returns text as $body$ begin return $$;$$; end $body$ language plpgsql',
    `insert into settings values ('it''s; -- this', "a;b", '/* ; */')`,
    'select 1 - 2 / 3',
  ];
  const script = `-- First; a comment with a quote: don't\n${pieces.join(';/* a; b */\n')};\n-- The end;\n`;
  assert.deepEqual(statementsOf(script), pieces);
});

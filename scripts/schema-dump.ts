/**
 * The schema of each engine after all migrations, to be read and reviewed. `npm run docs` writes both
 * files; a test fails if they are out of date.
 */
import { writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import type pg from 'pg';
import { migrate as migratePostgres } from '../packages/store/src/postgres/migrate.ts';
import {
  databaseSchema,
  migrate as migrateSqlite,
  receiptsSchema,
} from '../packages/store/src/sqlite/migrate.ts';
import { openLifetime } from '../packages/testkit/fixtures/lifetime.ts';
import { onConnection, startPostgres } from '../packages/testkit/servers/postgres-start.ts';

const store = new URL('../packages/store/src/', import.meta.url);
export const postgresSchemaPath = new URL('postgres/schema.sql', store);
export const sqliteSchemaPath = new URL('sqlite/schema.sql', store);

const heading = '-- The schema that the migrations create, written by "npm run docs". Nothing runs it.';

// Read from the catalogs, because the output of pg_dump depends on its version.

const functionsQuery = `
  select rtrim(pg_get_functiondef(oid), e' \\n') as text
  from pg_proc where pronamespace = current_schema::regnamespace
  order by oid::regprocedure::text collate "C"`;

const tablesQuery = `
  select oid, relname as name
  from pg_class
  where relkind in ('r', 'p') and relnamespace = current_schema::regnamespace
  order by relname collate "C"`;

const columnsQuery = `
  select concat_ws(' ', attname, format_type(atttypid, atttypmod),
    (select 'collate ' || quote_ident(collname) from pg_collation where oid = attcollation),
    case when attnotnull then 'not null' end,
    case attidentity when '' then null else 'generated as identity' end,
    'default ' || case attgenerated when '' then pg_get_expr(adbin, adrelid) end,
    case attgenerated when 's' then format('generated always as (%s) stored', pg_get_expr(adbin, adrelid)) end
  ) as text
  from pg_attribute left join pg_attrdef on adrelid = attrelid and adnum = attnum
  where attrelid = $1 and attnum > 0 and not attisdropped
  order by attnum`;

/** Without "not null", which is printed with its column. Later versions list it here, too. */
const constraintsQuery = `
  select 'constraint ' || quote_ident(conname) || ' ' || pg_get_constraintdef(oid) as text
  from pg_constraint where conrelid = $1 and contype <> 'n'
  order by contype = 'p' desc, conname collate "C"`;

const indexesQuery = `
  select pg_get_indexdef(indexrelid) as text
  from pg_index
  where indrelid = $1 and not exists (select 1 from pg_constraint where conindid = indexrelid)
  order by pg_get_indexdef(indexrelid) collate "C"`;

const triggersQuery = `
  select pg_get_triggerdef(oid) as text from pg_trigger where tgrelid = $1 and not tgisinternal
  order by tgname collate "C"`;

/** Changes the session's time settings, which decide how constant times are printed. */
export async function postgresSchema(client: pg.Client): Promise<string> {
  await client.query(`set timezone to 'UTC'; set datestyle to 'ISO'`);
  const texts = async (query: string, ...values: unknown[]): Promise<string[]> =>
    (await client.query(query, values)).rows.map(({ text }) => text);
  const statements = await texts(functionsQuery);
  for (const { oid, name } of (await client.query(tablesQuery)).rows) {
    const lines = [...(await texts(columnsQuery, oid)), ...(await texts(constraintsQuery, oid))];
    statements.push(`CREATE TABLE ${name} (\n  ${lines.join(',\n  ')}\n)`);
    statements.push(...(await texts(indexesQuery, oid)), ...(await texts(triggersQuery, oid)));
  }
  return [heading, ...statements.map((statement) => `${statement};`)].join('\n\n').concat('\n');
}

export function sqliteSchema(): string {
  const statements = (schema: typeof databaseSchema): string[] => {
    const db = new DatabaseSync(':memory:');
    migrateSqlite(db, 'production', schema);
    const rows = db.prepare('select sql from sqlite_schema where sql is not null order by rowid').all();
    db.close();
    return rows.map(({ sql }) => `${sql};`);
  };
  const besides = '-- The file of receipts, beside the database.';
  return [heading, ...statements(databaseSchema), besides, ...statements(receiptsSchema)]
    .join('\n\n')
    .concat('\n');
}

async function newPostgresSchema(): Promise<string> {
  await using lifetime = openLifetime();
  const server = await startPostgres(lifetime);
  return await onConnection(server.url(), async (client) => {
    await migratePostgres(client, 'production');
    return postgresSchema(client);
  });
}

export async function writeSchemas(): Promise<void> {
  writeFileSync(sqliteSchemaPath, sqliteSchema());
  writeFileSync(postgresSchemaPath, await newPostgresSchema());
}

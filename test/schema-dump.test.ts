import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { migrate } from '../packages/store/src/postgres/migrate.ts';
import { connectTo, emptyDatabase } from '../packages/testkit/servers/postgres.ts';
import {
  postgresSchema,
  postgresSchemaPath,
  sqliteSchema,
  sqliteSchemaPath,
} from '../scripts/schema-dump.ts';

const outOfDate = 'run "npm run docs"';

test('postgres/schema.sql is what the migrations create', async (t) => {
  const client = await connectTo(t, await emptyDatabase(t));
  await client.query(`set timezone to 'Asia/Tokyo'; set datestyle to 'German'`);
  await migrate(client, 'sandbox');
  assert.equal(await postgresSchema(client), readFileSync(postgresSchemaPath, 'utf8'), outOfDate);
});

test('sqlite/schema.sql is what the migrations create', () => {
  assert.equal(sqliteSchema(), readFileSync(sqliteSchemaPath, 'utf8'), outOfDate);
});

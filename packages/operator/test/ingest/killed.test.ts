import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { openSqlite } from '../../../store/src/sqlite/open.ts';
import { temporaryFolder } from '../../../testkit/fixtures/folder.ts';
import { migratedDatabase } from '../../../testkit/service/database.ts';
import { killImports } from './kill-imports.ts';

/** `npm run check -- faults-import` kills a hundred on each engine. */
const kills = 3;

async function emptyFile(t: TestContext): Promise<string> {
  const path = join(temporaryFolder(t), 'test.db');
  await openSqlite(path, 'sandbox', 'create').close();
  return `sqlite:${path}`;
}

for (const [engine, database] of [
  ['SQLite', emptyFile],
  ['Postgres', migratedDatabase],
] as const) {
  test(`an import that is killed has written all of its lines or none, on ${engine}`, async (t) => {
    const url = await database(t);
    const folder = temporaryFolder(t);
    const scene = { url, environment: 'sandbox', folder, rows: 2_000, kills };
    const { before, after } = await killImports(t, scene);
    assert.equal(before + after, kills);
  });
}

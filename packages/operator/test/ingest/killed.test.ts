import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { toCreate } from '../../../store/src/address.ts';
import { openSqlite } from '../../../store/src/sqlite/open.ts';
import { temporaryFolder } from '../../../testkit/fixtures/folder.ts';
import { migratedDatabase } from '../../../testkit/service/database.ts';
import { killImports } from './kill-imports.ts';

/** `npm run check -- faults-import` kills a hundred larger imports, then a hundred with --delete-missing. */
const kills = Number(process.env.KILLS ?? 3);
const isLong = kills > 3;
const rows = isLong ? 20_000 : 2_000;

async function emptyFile(t: TestContext): Promise<string> {
  const path = join(temporaryFolder(t), 'test.db');
  await openSqlite(path, 'sandbox', toCreate).close();
  return `sqlite:${path}`;
}

for (const [engine, database] of [
  ['SQLite', emptyFile],
  ['Postgres', migratedDatabase],
] as const) {
  for (const deletesMissing of isLong ? [false, true] : [false]) {
    const flag = deletesMissing ? ' and --delete-missing' : '';
    test(`an import that is killed has written all of its lines or none, on ${engine}${flag}`, {
      timeout: 900_000,
    }, async (t) => {
      const url = await database(t);
      const scene = { url, environment: 'sandbox', folder: temporaryFolder(t), rows, kills, deletesMissing };
      const { before, after, noticedMs } = await killImports(t, scene);
      t.diagnostic(`${before} wrote nothing, ${after} all; noticed after at most ${noticedMs.toFixed(0)} ms`);
      assert.equal(before + after, kills);
    });
  }
}

/** Two stores in one process on one file, as a sandbox has them. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { byTest, createdAt } from '../../../testkit/fixtures/fixture.ts';
import { runExecutable, withPartners } from '../../../testkit/fixtures/run.ts';
import { openSqlite } from '../../src/sqlite/open.ts';

test('a command of another process leaves the log to two stores of one process', async (t) => {
  const { databasePath, database } = await withPartners(t, ['acme']);
  const store = openSqlite(databasePath, 'production', 'serve');
  t.after(() => store.close());
  await store.findPartner('acme');
  const other = openSqlite(databasePath, 'production', 'admin');
  await other.createPartner({ id: 'early', name: 'Early', created_at: createdAt }, byTest);
  await other.close();
  const words = ['partners', 'create', '--id', 'zenith', '--name', 'Zenith', '--database', database];
  const { status, stderr } = await runExecutable(words);
  assert.equal(status, 0, stderr);
  assert.ok(existsSync(`${databasePath}-wal`));
  assert.equal((await store.findPartner('zenith'))?.name, 'Zenith');
});

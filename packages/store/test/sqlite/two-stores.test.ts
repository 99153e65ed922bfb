/** Two stores in one process on one file, as a sandbox has them. */

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { adminBounds } from '../../../common/src/bounds/operator.ts';
import { byTest, createdAt } from '../../../testkit/fixtures/fixture.ts';
import { runExecutable, withPartners } from '../../../testkit/fixtures/run.ts';
import { toAdminister, toServe } from '../../src/address.ts';
import { StoreLocked } from '../../src/port.ts';
import { openSqlite } from '../../src/sqlite/open.ts';

test('a command of another process leaves the log to two stores of one process', async (t) => {
  const { databasePath, database } = await withPartners(t, ['acme']);
  const store = openSqlite(databasePath, 'production', toServe);
  t.after(() => store.close());
  await store.findPartner('acme');
  const other = openSqlite(databasePath, 'production', toAdminister);
  await other.createPartner({ id: 'early', name: 'Early', created_at: createdAt }, byTest);
  await other.close();
  const words = ['partners', 'create', '--id', 'zenith', '--name', 'Zenith', '--database', database];
  const { status, stderr } = await runExecutable(words);
  assert.equal(status, 0, stderr);
  assert.ok(existsSync(`${databasePath}-wal`));
  assert.equal((await store.findPartner('zenith'))?.name, 'Zenith');
});

test('a change is tried without waiting for a lock, and leaves nothing', async (t) => {
  const { databasePath } = await withPartners(t, ['acme']);
  const store = openSqlite(databasePath, 'production', toAdminister);
  t.after(() => store.close());
  const position = await store.auditPosition(undefined);
  await store.tryWrite();
  assert.deepEqual(await store.auditPosition(undefined), position);
  const writer = new DatabaseSync(databasePath);
  t.after(() => writer.close());
  writer.exec('begin immediate');
  const times: number[] = [];
  for (let tries = 0; tries < 5; tries += 1) {
    const startedMs = performance.now();
    await assert.rejects(store.tryWrite(), StoreLocked);
    times.push(performance.now() - startedMs);
  }
  assert.ok(Math.min(...times) < adminBounds.sqliteBusyMs, times.join());
});

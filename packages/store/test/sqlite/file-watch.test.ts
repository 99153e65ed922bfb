/** `serve` notices that its files were replaced or removed, and writes nothing to lost files. */

import assert from 'node:assert/strict';
import { readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { byTest, fillFixture } from '../../../testkit/fixtures/fixture.ts';
import { temporaryFolder } from '../../../testkit/fixtures/lifetime.ts';
import { toCreate, toFollow, toServe } from '../../src/address.ts';
import { type Store, StoreUnavailable } from '../../src/port.ts';
import { backUpSqlite } from '../../src/sqlite/backup.ts';
import { openSqlite } from '../../src/sqlite/open.ts';
import { plainBalance, plainReceipt } from '../suite/records.ts';

const page = { partnerId: 'acme', referenceId: undefined, after: '', limit: 1 };
async function filled(path: string): Promise<void> {
  const store = openSqlite(path, 'sandbox', toCreate);
  await fillFixture(store);
  await store.close();
}

/** A database as `serve` opens it, and the faults that it reports. */
async function served(t: TestContext) {
  const folder = temporaryFolder(t);
  const path = join(folder, 'test.db');
  await filled(path);
  const store = openSqlite(path, 'sandbox', toServe);
  t.after(() => store.close());
  const reports: (string | undefined)[] = [];
  let next = Promise.withResolvers<void>();
  store.onFileFailure!((fault) => {
    reports.push(fault);
    next.resolve();
    next = Promise.withResolvers();
  });
  return { folder, path, store, reports, reported: () => next.promise };
}

/** No request is answered. Receipts are written only if their own file is not lost. */
async function assertLost(store: Store, fault: RegExp, areReceiptsLost = false): Promise<void> {
  const isFault = (error: unknown) => error instanceof StoreUnavailable && fault.test(error.message);
  await assert.rejects(store.ping(), isFault);
  await assert.rejects(store.listBrands(page), isFault);
  const writing = store.recordReceipts([plainReceipt]);
  await (areReceiptsLost ? assert.rejects(writing, isFault) : writing);
}

for (const suffix of ['', '-wal', '-receipts', '-receipts-shm']) {
  test(`notices within a second that test.db${suffix} was moved, and that it is back`, async (t) => {
    const { path, store, reports, reported } = await served(t);
    const [file, away] = [`${path}${suffix}`, `${path}.away`];
    const startMs = performance.now();
    renameSync(file, away);
    await reported();
    assert.ok(performance.now() - startMs < 1_000);
    const remedy =
      'Put it back. If it is lost, stop the service, move all database files away, and restore a backup.';
    assert.deepEqual(reports, [`${file} was removed or moved. ${remedy}`]);
    await assertLost(store, /was removed or moved/, suffix.startsWith('-receipts'));
    renameSync(away, file);
    await store.ping();
    await store.listBrands(page);
    await store.recordReceipts([plainReceipt]);
    assert.equal((await store.listReceipts({ limit: 2 })).length, 1);
    assert.deepEqual([reports.length, reports[1]], [2, undefined]);
  });
}

test('notices a removed file, and another database in its place', async (t) => {
  const { folder, path, store, reports } = await served(t);
  await filled(join(folder, 'other.db'));
  rmSync(path);
  await assertLost(store, /test\.db was removed/);
  renameSync(join(folder, 'other.db'), path);
  await assertLost(store, /test\.db was replaced by another file\. Do not restart: stop the service/);
  assert.equal(reports.length, 1);
});

test('keeps the log of a replaced file away from the new file', async (t) => {
  const folder = temporaryFolder(t);
  const [path, other] = [join(folder, 'test.db'), join(folder, 'other.db')];
  for (const file of [path, other]) await filled(file);
  const store = openSqlite(path, 'sandbox', toServe);
  await store.setPartnerDisabled('acme', plainReceipt.at, byTest);
  renameSync(other, path);
  await store.close();
  const files = readdirSync(folder);
  assert.deepEqual([files.includes('test.db-wal'), files.includes('test.db-wal-replaced')], [false, true]);
  const again = openSqlite(path, 'sandbox', toServe);
  assert.equal((await again.findPartner('acme'))?.disabled_at, undefined);
  await again.close();
});

test('a feed neither writes to a file that was replaced or removed, nor reads it', async (t) => {
  const path = join(temporaryFolder(t), 'test.db');
  await filled(path);
  const feed = openSqlite(path, 'sandbox', toFollow);
  t.after(() => feed.close());
  const run = await feed.beginImport('balances', { pace: 'feed' });
  await run.stage([plainBalance('alice', 'new')]);
  assert.equal((await run.write({ mode: 'keep' })).written, 1);
  await run.stage([plainBalance('alice', 'newer')]);
  rmSync(path);
  await assert.rejects(run.write({ mode: 'keep' }), /test\.db was removed/);
  await run.end();
  // What `audit list --follow` reads.
  await assert.rejects(feed.followAudit({ last: 0, missing: [] }, 1), /test\.db was removed/);
});

test('counts no receipts as written if the file goes while they are written', async (t) => {
  const { path, store } = await served(t);
  await store.recordReceipts([plainReceipt]);
  const writing = store.recordReceipts([{ ...plainReceipt, request_id: 'r2' }]);
  renameSync(`${path}-receipts`, `${path}.away`);
  await assert.rejects(writing, StoreUnavailable);
  renameSync(`${path}.away`, `${path}-receipts`);
  await store.recordReceipts([{ ...plainReceipt, request_id: 'r2' }]);
  assert.equal((await store.listReceipts({ limit: 3 })).length, 2);
});

test('a backup, an import, a vacuum, checkpoints and a large log cause no fault', async (t) => {
  const { folder, path, store, reports } = await served(t);
  const other = new DatabaseSync(path);
  t.after(() => other.close());
  const insert = other.prepare(
    `insert into partners (id, name, created_at) values (?, ?, '${plainReceipt.at}')`,
  );
  for (let round = 0; round < 40; round += 1) {
    other.exec('begin');
    for (let row = 0; row < 50; row += 1) insert.run(`x${round}-${row}`, 'x'.repeat(200));
    other.exec('commit');
    await store.ping();
    if (round % 8 === 0) other.exec('pragma wal_checkpoint(truncate)');
    if (round % 8 === 4) other.exec('pragma wal_checkpoint');
    await store.ping();
  }
  other.exec('vacuum');
  await store.ping();
  await backUpSqlite(path, 'sandbox', join(folder, 'backup.db'), () => () => {});
  const command = openSqlite(path, 'sandbox', {});
  await command.close();
  await store.ping();
  assert.deepEqual(reports, []);
});

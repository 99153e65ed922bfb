/** The thread that writes receipts of the embedded database, and what happens when it dies. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import type { Worker } from 'node:worker_threads';
import { toServe } from '../../../store/src/address.ts';
import { createReceipts } from '../../../store/src/sqlite/receipts.ts';
import { receiptAt } from '../../../store/test/suite/receipts.ts';
import { temporaryFolder } from '../../../testkit/fixtures/lifetime.ts';

/** A receipts file, and the threads that were started to write to it. */
function startScene(t: TestContext) {
  const path = join(temporaryFolder(t), 'test.db');
  const { all, open, close } = createReceipts(
    path,
    'sandbox',
    toServe,
    async () => [],
    () => {},
  );
  open();
  t.after(close);
  const db = new DatabaseSync(`${path}-receipts`);
  t.after(() => db.close());
  const threads: Worker[] = [];
  const listener = (thread: Worker) => threads.push(thread);
  process.on('worker', listener);
  t.after(() => process.off('worker', listener));
  return { ...all, db, threads };
}

test('starts the thread with the first batch', async (t) => {
  const { recordReceipts, threads } = startScene(t);
  // Node reports a thread one turn after its start.
  await turn();
  assert.equal(threads.length, 0);
  await recordReceipts([receiptAt(0)]);
  assert.equal(threads.length, 1);
});

test('replaces a thread that died, after its pending writes have failed', async (t) => {
  const { recordReceipts, countOld, db, threads } = startScene(t);
  await recordReceipts([receiptAt(0)]);
  db.exec('begin immediate');
  const lost = assert.rejects(recordReceipts([receiptAt(1)]), /receipts file cannot be written/);
  await Promise.all([threads[0]!.terminate(), lost]);
  db.exec('rollback');
  await recordReceipts([receiptAt(1)]);
  assert.equal(threads.length, 2);
  assert.equal(await countOld('receipts', '9999'), 2);
});

test('keeps its thread when writes fail, and recovers afterwards', async (t) => {
  const { recordReceipts, db, threads } = startScene(t);
  db.exec('alter table receipts rename to elsewhere');
  for (let attempt = 0; attempt < 3; attempt += 1) {
    await assert.rejects(recordReceipts([receiptAt(0)]), /no such table: receipts/);
  }
  db.exec('alter table elsewhere rename to receipts');
  await recordReceipts([receiptAt(0)]);
  assert.equal(threads.length, 1);
});

/** The thread that writes receipts of the embedded database, and what happens when it dies. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import type { Worker } from 'node:worker_threads';
import { temporaryFolder } from '../../../testkit/fixtures/folder.ts';
import { until } from '../../../testkit/fixtures/until.ts';
import { receiptsBounds } from '../../src/bounds/receipts.ts';
import { migrate, receiptsSchema } from '../../src/store/sqlite/migrate.ts';
import { createWriter } from '../../src/store/sqlite/receipts/writer.ts';
import { receiptAt } from '../store/suite/receipts.ts';

/** A receipts file, and the threads that were started to write to it. */
function startScene(t: TestContext) {
  const path = join(temporaryFolder(t), 'test.db-receipts');
  const db = new DatabaseSync(path);
  t.after(() => db.close());
  migrate(db, 'sandbox', receiptsSchema);
  const threads: Worker[] = [];
  const listener = (thread: Worker) => threads.push(thread);
  process.on('worker', listener);
  t.after(() => process.off('worker', listener));
  const start = () => {
    const writer = createWriter(path);
    t.after(writer.close);
    const isWritten = () => writer.write('receipts', [receiptAt(0)]).then(...outcomes);
    return { ...writer, isWritten };
  };
  const count = () => db.prepare('select count(*) as count from receipts').get()!.count;
  return { db, threads, start, count };
}

const outcomes = [
  () => true,
  ({ message }: Error) => /cannot be written to now/.test(message) && false,
] as const;

test('starts the thread with the first batch', async (t) => {
  const { threads, start } = startScene(t);
  const writer = start();
  // Node reports a thread one turn after its start.
  await turn();
  assert.equal(threads.length, 0);
  await writer.write('receipts', [receiptAt(0)]);
  assert.equal(threads.length, 1);
});

test('replaces a thread that died, after its pending writes have failed', async (t) => {
  const { db, threads, start, count } = startScene(t);
  const writer = start();
  await writer.write('receipts', [receiptAt(0)]);
  db.exec('begin immediate');
  const lost = assert.rejects(writer.write('receipts', [receiptAt(1)]), /cannot be written to now/);
  await Promise.all([threads[0]!.terminate(), lost]);
  db.exec('rollback');
  await until(10_000, writer.isWritten);
  assert.equal(threads.length, 2);
  assert.equal(count(), 2);
});

test('starts at most one thread a second while they die, and recovers afterwards', async (t) => {
  const { db, threads, start } = startScene(t);
  db.exec('alter table receipts rename to elsewhere');
  const writer = start();
  const startedMs = performance.now();
  for (let attempt = 0; attempt < 50; attempt += 1) {
    await assert.rejects(writer.write('receipts', [receiptAt(0)]), /no such table: receipts/);
  }
  const spanMs = performance.now() - startedMs;
  assert.ok(
    threads.length <= 1 + spanMs / receiptsBounds.receiptsThreadMs,
    `${threads.length} in ${spanMs} ms`,
  );
  db.exec('alter table elsewhere rename to receipts');
  await until(10_000, writer.isWritten);
});

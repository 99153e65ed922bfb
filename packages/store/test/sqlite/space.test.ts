/** The files of the embedded database do not stay larger than their content. */

import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { test } from 'node:test';
import { storeBounds } from '../../../common/src/bounds/store.ts';
import { until } from '../../../testkit/fixtures/lifetime.ts';
import { toFollow, toServe } from '../../src/address.ts';
import { openSqlite } from '../../src/sqlite/open.ts';
import { receiptAt } from '../suite/receipts.ts';
import { plainBalance } from '../suite/records.ts';
import { connect, copyOf } from './copies.ts';

const bytesOf = (path: string) => statSync(path).size;

test('a large write-ahead log shrinks when the command ends, while the database is served', async (t) => {
  const path = copyOf(t);
  const served = openSqlite(path, 'sandbox', toServe);
  t.after(() => served.close());
  const writer = connect(t, path);
  writer.exec(`create table large (content blob); insert into large values (randomblob(10000000))`);
  assert.ok(bytesOf(`${path}-wal`) > storeBounds.sqliteLogBytes);

  const reader = connect(t, path);
  reader.exec('begin; select count(*) from large');
  writer.exec(`update large set content = randomblob(10000000)`);
  await openSqlite(path, 'sandbox', {}).close();
  assert.ok(bytesOf(`${path}-wal`) > storeBounds.sqliteLogBytes, 'a reader needs the log');
  reader.exec('rollback');
  await openSqlite(path, 'sandbox', {}).close();
  assert.equal(bytesOf(`${path}-wal`), 0);
  await served.ping();
});

test('a feed shrinks a large write-ahead log', async (t) => {
  const path = copyOf(t);
  const feed = openSqlite(path, 'sandbox', toFollow);
  t.after(() => feed.close());
  connect(t, path).exec('create table large (content blob); insert into large values (randomblob(10000000))');
  const run = await feed.beginImport('balances', { pace: 'feed' });
  await run.stage([plainBalance('alice', 'new')]);
  await run.write({ mode: 'keep' });
  await run.end();
  assert.equal(bytesOf(`${path}-wal`), 0);
});

test('pruned receipts give their space back while others are written', async (t) => {
  const path = copyOf(t);
  const receipts = `${path}-receipts`;
  const served = openSqlite(path, 'sandbox', toServe);
  t.after(() => served.close());
  const content = Array.from({ length: 12_000 }, (_, index) => receiptAt(index));
  await served.recordReceipts(content);
  connect(t, receipts).exec('pragma wal_checkpoint(truncate)');
  const before = bytesOf(receipts);
  assert.ok(before > 2_000_000);

  const command = openSqlite(path, 'sandbox', {});
  const by = { actor: 'test', action: 'receipts prune' } as const;
  const pruned = command.prune('receipts', content[11_990]!.at, by);
  // On a busy machine the command can hold the lock for longer than a receipt waits. Its writer tries
  // again.
  const isWritten = () =>
    served.recordReceipts([receiptAt(20_000)]).then(
      () => true,
      () => false,
    );
  await until(20_000, isWritten);
  assert.equal(await pruned, 11_990);
  await command.close();
  connect(t, receipts).exec('pragma wal_checkpoint(truncate)');
  assert.ok(bytesOf(receipts) < 100_000, `${bytesOf(receipts)} of ${before} bytes are left`);
  assert.equal((await served.listReceipts({ limit: 20 })).length, 11);
});

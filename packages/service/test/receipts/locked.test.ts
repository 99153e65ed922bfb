/** While the database cannot write receipts, they wait, and requests do not. */
import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import type { Store } from '../../../store/src/port.ts';
import { receiptAt } from '../../../store/test/suite/receipts.ts';
import { fillFixture, future, keys } from '../../../testkit/fixtures/fixture.ts';
import { until } from '../../../testkit/fixtures/lifetime.ts';
import { startNetwork } from '../../../testkit/servers/network.ts';
import { openServing, openTestDatabase } from '../../../testkit/service/database.ts';
import { watchedLog } from '../../../testkit/watch/logs.ts';
import { digestOfKey } from '../../src/auth.ts';
import { createJournal } from '../../src/receipts.ts';

/** A journal on a store that counts failed writes. */
function startJournal(t: TestContext, store: Store) {
  let failures = 0;
  const recordReceipts: Store['recordReceipts'] = (receipts) =>
    store.recordReceipts(receipts).catch((fault) => {
      failures += 1;
      throw fault;
    });
  const journal = createJournal({ ...store, recordReceipts }, watchedLog().log);
  t.after(journal.close);
  return { ...journal, failures: () => failures };
}

async function assertServed(store: Store): Promise<void> {
  const page = { partnerId: 'acme', type: 'CHECKING', at: future, after: '', limit: 2 };
  assert.equal((await store.findKey(digestOfKey(keys.acme)))?.id, 'KEY_0');
  const answer = await store.listBalances({ ...page, customerId: 'alice', grantId: undefined });
  assert.equal(answer.grant, 'ACTIVE');
}

function lockFile(t: TestContext, path: string): () => void {
  const locker = new DatabaseSync(path);
  t.after(() => locker.close());
  locker.exec('begin immediate');
  return () => locker.exec('rollback');
}

function pathOf(url: string): string {
  return url.replace('sqlite:', '');
}

test('an import that locks the embedded database does not delay receipts', async (t) => {
  const { url } = await openTestDatabase(t, 'fixture', fillFixture, 'sqlite');
  const store = await openServing(t, url);
  const journal = startJournal(t, store);
  lockFile(t, pathOf(url));
  journal.add(receiptAt(0));
  journal.noteUse('KEY_0', Date.now());
  await until(20_000, async () => (await store.lastUses(['KEY_0'])).size === 1);
  assert.equal((await store.listReceipts({ limit: 10 })).length, 1);
  assert.equal(journal.failures(), 0);
});

for (const engine of ['sqlite', 'postgres']) {
  test(`locked receipts delay nothing else on ${engine}, and are written later`, async (t) => {
    const { url, lockable } = await openTestDatabase(t, 'fixture', fillFixture, engine);
    const store = await openServing(t, url);
    const journal = startJournal(t, store);
    const unlock =
      engine === 'sqlite'
        ? lockFile(t, `${pathOf(url)}-receipts`)
        : await (await lockable()).lock('receipts');
    const receipt = receiptAt(0);
    journal.add(receipt);
    // Postgres ends the statement after its timeout, and it is retried.
    await until(20_000, () => journal.failures() > 0);
    await assertServed(store);
    await unlock();
    await until(20_000, async () => (await store.listReceipts({ limit: 10 })).length > 0);
    assert.deepEqual(await store.listReceipts({ limit: 10 }), [receipt]);
  });
}

test('receipts are written again after the database was read-only for a while', async (t) => {
  const { store, url, execute } = await openTestDatabase(t, 'fixture', fillFixture, 'postgres');
  const setReadOnly = (value: string) =>
    execute(`alter database ${new URL(url).pathname.slice(1)} set default_transaction_read_only = ${value}`);
  await setReadOnly('on');
  await assert.rejects(store.recordReceipts([receiptAt(0)]), /read-only transaction, 25006/);
  await setReadOnly('off');
  await store.recordReceipts([receiptAt(0)]);
});

test('receipts are written even if requests use all connections', async (t) => {
  const { url, lockable } = await openTestDatabase(t, 'fixture', fillFixture, 'postgres');
  const store = await openServing(t, url, { connections: 1 });
  const journal = startJournal(t, store);
  const written = () => journal.metrics[1]!.read()[0]!.value;
  // The connection of receipts is opened first: that alone can fail on a busy machine.
  journal.add(receiptAt(0));
  await until(20_000, () => written() === 1);
  const failures = journal.failures();
  const unlock = await (await lockable()).lock('brands');
  const brands = { partnerId: 'acme', referenceId: undefined, after: '', limit: 2 };
  const asked = store.listBrands(brands).catch(() => {});
  journal.add(receiptAt(1));
  await until(20_000, () => written() === 2);
  assert.equal(journal.failures(), failures);
  await unlock();
  await asked;
});

test('a connection that goes silent loses no receipt', async (t) => {
  const { url } = await openTestDatabase(t, 'fixture', fillFixture, 'postgres');
  const proxy = await startNetwork(t, { port: Number(new URL(url).port) });
  const through = new URL(url);
  through.port = String(proxy.port);
  const store = await openServing(t, through.href);
  const journal = startJournal(t, store);
  const [first, second] = [receiptAt(0), receiptAt(1)];
  journal.add(first);
  await until(20_000, () => journal.metrics[1]!.read()[0]!.value === 1);
  proxy.fallSilent();
  proxy.forget();
  journal.add(second);
  await until(20_000, () => journal.metrics[1]!.read()[0]!.value === 2);
  assert.deepEqual(await store.listReceipts({ limit: 10 }), [second, first]);
});

/** Imports and deletions at the same time: a deletion is never undone by a write that had not seen it. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { byTest } from '../../testkit/fixtures/fixture.ts';
import { until } from '../../testkit/fixtures/lifetime.ts';
import { connectTo } from '../../testkit/servers/postgres.ts';
import { openTestDatabase } from '../../testkit/service/database.ts';
import { type Store, StoreLocked } from '../src/port.ts';
import { counted, createPartners, grant, plainBalance, writeBatches, writeRows } from './suite/records.ts';

const old = { ...plainBalance('alice', 'b'), is_timed: 1 };
const deletion = { customer_id: 'alice', id: 'b', deleted_at: '2026-01-02T00:00:00.000Z' };

const open = (t: TestContext) => openTestDatabase(t, 'nothing', async () => {}, 'postgres');

const erasure = { customer_id: 'alice', erased_at: deletion.deleted_at };

/** What ends the record, and the result of it. */
const ends: Readonly<Record<string, readonly [(store: Store) => Promise<unknown>, result: object]>> = {
  'a deletion': [(store) => writeRows(store, 'balances', [deletion]), counted({ deleted: 1 })],
  'an erasure': [(store) => store.eraseCustomer('alice', byTest), { balances: 1, grants: 0 }],
  'the import of an erasure': [
    (store) => store.importErasures([erasure], byTest),
    { erased: 1, balances: 1, grants: 0 },
  ],
};

for (const [what, [end, result]] of Object.entries(ends)) {
  test(`${what} waits for an import that has written the record`, async (t) => {
    const { store, url } = await open(t);
    const client = await connectTo(t, url);
    // The default of the database is another one than that of our transactions.
    const database = new URL(url).pathname.slice(1);
    await client.query(`alter database ${database} set default_transaction_isolation = 'repeatable read'`);
    const run = await store.beginImport('balances', { pace: 'fast' });
    await run.stage([old]);
    // Sends the row: it is in the table, in an open transaction.
    await run.countMissing();
    const ending = end(store);
    const waiting = `select 1 from pg_locks where locktype = 'advisory' and not granted`;
    await until(20_000, async () => (await client.query(waiting)).rowCount === 1);
    assert.deepEqual(await run.write({ mode: 'keep' }), counted({ written: 1 }));
    await run.end();
    assert.deepEqual(await ending, result);
    assert.equal((await client.query('select from balances')).rowCount, 0);
  });
}

const onCluster = process.env.TEST_CITUS_WORKERS !== undefined && 'the lock is on another node';

test('a line that another import writes at the same time is written once', { skip: onCluster }, async (t) => {
  const { store, url } = await open(t);
  const [other, client] = await Promise.all([connectTo(t, url), connectTo(t, url)]);
  const run = await store.beginImport('balances', { pace: 'slow' });
  await run.stage([old]);
  const names = Object.keys(plainBalance('alice', 'b'));
  await other.query('begin');
  await other.query(
    `insert into balances (${names.join(', ')}) values (${names.map((_, index) => `$${index + 1}`).join(', ')})`,
    Object.values(plainBalance('alice', 'b')),
  );
  const writing = run.write({ mode: 'keep' });
  const waiting = `select 1 from pg_locks where locktype = 'transactionid' and not granted`;
  await until(20_000, async () => (await client.query(waiting)).rowCount === 1);
  await other.query('commit');
  assert.deepEqual(await writing, counted({ stale: 1 }));
  await run.end();
});

test('an import that began before a deletion does not bring the record back', async (t) => {
  const { store, url } = await open(t);
  const client = await connectTo(t, url);
  const paces = ['slow', 'fast'] as const;
  const runs = await Promise.all(paces.map((pace) => store.beginImport('balances', { pace })));
  for (const run of runs) await run.stage([old]);
  assert.deepEqual(await writeRows(store, 'balances', [deletion]), counted({ unchanged: 1 }));
  for (const run of runs) {
    assert.deepEqual(await run.write({ mode: 'keep' }), counted({ stale: 1 }));
    await run.end();
  }
  assert.equal((await client.query('select from balances')).rowCount, 0);
});

test('two imports of one record at the same time keep the newer one', async (t) => {
  const { store } = await open(t);
  const newer = { ...old, amount: 2, updated_at: '2026-01-03T00:00:00.000Z' };
  const runs = await Promise.all([old, newer].map(() => store.beginImport('balances')));
  await runs[0]!.stage([newer]);
  await runs[1]!.stage([old]);
  const results = await Promise.all(runs.map((run) => run.write({ mode: 'keep' })));
  await Promise.all(runs.map((run) => run.end()));
  assert.ok(
    results[0]!.written === 1 && results[1]!.written + results[1]!.stale === 1,
    JSON.stringify(results),
  );
  const again = await writeRows(store, 'balances', [newer]);
  assert.deepEqual(again, counted({ unchanged: 1 }));
});

test('a feed that meets the lock of another import fails soon, so that it can report it', async (t) => {
  const { store } = await open(t);
  const file = await store.beginImport('balances', { pace: 'fast' });
  await file.stage([old]);
  await file.countMissing();
  const feed = await store.beginImport('balances', { pace: 'feed' });
  await feed.stage([deletion]);
  await assert.rejects(feed.write({ mode: 'keep' }), StoreLocked);
  await Promise.all([feed.end(), file.end()]);
});

test('two first loads that also delete wait for each other', async (t) => {
  const { store } = await open(t);
  const rows = (id: string) => [{ ...plainBalance('alice', id), is_timed: 1 }];
  const loads = ['0', '1'].map((id) =>
    writeBatches(store, 'balances', [rows(id), [{ ...deletion, id: `${id}z` }]], { pace: 'fast' }),
  );
  for (const result of await Promise.all(loads))
    assert.deepEqual(result, counted({ written: 1, unchanged: 1 }));
});

const month = (number: number) => `2026-0${number}-01T00:00:00.000Z`;

/** A line of February or April, and the grant that was active when it was read, and is revoked in March. */
const revocations = [
  { line: { expires_at: month(9) }, status: 'REVOKED', updated_at: month(3) },
  { line: { status: 'CONSUMED' }, status: 'CONSUMED', updated_at: month(2) },
  { line: { status: 'CONSUMED', updated_at: month(4) }, status: 'REVOKED', updated_at: month(3) },
];

for (const { line, ...ends } of revocations) {
  const what = JSON.stringify(line);
  test(`an import keeps a revocation that comes after it read the grant: ${what}`, async (t) => {
    const { store, url } = await open(t);
    await createPartners(store, 'acme');
    await store.createGrant(grant, byTest);
    const [revoking, watching] = [await connectTo(t, url), await connectTo(t, url)];
    await revoking.query('begin');
    await revoking.query(`update grants set status = 'REVOKED', updated_at = '${month(3)}'
      where customer_id = 'alice'`);
    const run = await store.beginImport('grants');
    await run.stage([{ ...grant, updated_at: month(2), is_timed: 1, line: 1, ...line }]);
    const writing = run.write({ mode: 'keep' });
    const isWriting = `select 1 from pg_stat_activity where datname = current_database()
      and state = 'active' and ltrim(query, E' \\n') like 'insert into grants%'`;
    await until(20_000, async () => (await watching.query(isWriting)).rowCount === 1);
    await revoking.query('commit');
    await writing;
    await run.end();
    const [stored] = await store.findGrants('g');
    const { expires_at } = { expires_at: undefined, ...line };
    assert.deepEqual({ expires_at: undefined, ...stored }, { ...grant, expires_at, ...ends });
  });
}

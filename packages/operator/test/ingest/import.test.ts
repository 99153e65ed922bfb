import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ingestBounds } from '../../../common/src/bounds/operator.ts';
import type { ImportRow, Store } from '../../../store/src/port.ts';
import { balances, brands } from '../../../store/test/suite/records.ts';
import { byTest, createdAt } from '../../../testkit/fixtures/fixture.ts';
import { pluck } from '../../../testkit/fixtures/pluck.ts';
import { followRecords } from '../../src/ingest/follow.ts';
import { readJsonLines } from '../../src/ingest/json.ts';
import type { Reading } from '../../src/ingest/lines.ts';
import { createRetry } from '../../src/ingest/retry.ts';
import { balancesOf, brand, brandsOf, importFrom, importInto, linesOf, openEmpty } from './import-into.ts';

test('writes nothing if reading fails, and allows the next import', async (t) => {
  const store = await openEmpty(t);
  async function* broken() {
    yield linesOf([...Array(600).keys()].map((index) => brand(index)));
    throw new Error('the disk is gone');
  }
  await assert.rejects(
    importFrom(store, () => readJsonLines(broken()), { skipsRejected: true }),
    /the disk is gone/,
  );
  assert.deepEqual(await brandsOf(store), []);
  assert.equal((await importInto(store, [brand(1)])).written, 1);
});

test('releases the database as soon as a line is rejected', async (t) => {
  const store = await openEmpty(t);
  // More than the queue holds, so that the first ones are written and the table is locked.
  const count = ingestBounds.importBatchRecords * (ingestBounds.importBatchesAhead + 2);
  const bad = { line: count + 1, value: brand(count, { name: 5 }) };
  async function* readings() {
    yield Array.from({ length: count }, (_, index) => ({ line: index + 1, value: brand(index) }));
    yield [bad];
    await store.setPartnerDisabled('acme', createdAt, byTest);
    yield [bad];
  }
  const { written, rejected_count } = await importFrom(store, readings);
  assert.deepEqual([written, rejected_count], [0, 2]);
  assert.equal((await store.findPartner('acme'))?.disabled_at, createdAt);
});

test('reports at most 1,000 rejected lines, the first ones, and counts them all', async (t) => {
  const lines = Array.from({ length: 1_500 }, (_, index) => (index % 3 === 0 ? brand(index) : 'nonsense'));
  const many = [...lines, ...lines];
  const report = await importInto(await openEmpty(t), many, { skipsRejected: true });
  assert.equal(report.rejected_count, 2_000);
  assert.equal(report.rejected.length, 1_000);
  assert.deepEqual(
    [report.rejected[0]?.line, report.rejected[1]?.line, report.rejected[999]?.line],
    [2, 3, 1500],
  );
});

test('the database accepts every record that passes the check', async (t) => {
  const store = await openEmpty(t);
  let count = 0;
  const property = fc.asyncProperty(brands, balances, async (someBrand, someBalance) => {
    const id = `${++count}-${someBrand.id}`;
    const { written } = await importInto(store, [{ ...someBrand, id }]);
    assert.equal(written, 1);
    const customer_id = `${count}-${someBalance.customer_id}`;
    const report = await importInto(store, [{ ...someBalance, customer_id }], { kind: 'balances' });
    assert.equal(report.written, 1);
    assert.deepEqual(await balancesOf(store, customer_id), [{ ...someBalance, customer_id }]);
  });
  await fc.assert(property, { numRuns: 60 });
  assert.equal((await brandsOf(store)).length, count);
});

/** A store that records the batches it was given. */
function weighed(store: Store): { readonly store: Store; readonly batches: (readonly ImportRow[])[] } {
  const batches: (readonly ImportRow[])[] = [];
  const beginImport: Store['beginImport'] = async (kind) => {
    const run = await store.beginImport(kind);
    const stage = (rows: readonly ImportRow[]) => {
      batches.push(rows);
      return run.stage(rows);
    };
    return { ...run, stage };
  };
  return { store: { ...store, beginImport }, batches };
}

const note = 'x'.repeat(32_000);

/** All in one piece, like the lines of one chunk. */
async function* longRecords(count: number): AsyncGenerator<readonly Reading[]> {
  const values = Array.from({ length: count }, (_, line) => brand(line, { metadata: { note } }));
  yield values.map((value, line) => ({ line, text: JSON.stringify(value), value }));
}

const ways = {
  'a file': (store: Store, count: number) => importFrom(store, () => longRecords(count)),
  'a feed': (store: Store, count: number) => {
    const fail = () => assert.fail('nothing to report');
    const stop = new AbortController();
    const retry = createRetry({ stop, report: fail });
    const options = { kind: 'brands', partnerId: 'acme', stop, retry, rejected: fail } as const;
    return followRecords(store, longRecords(count), options);
  },
};

for (const [what, write] of Object.entries(ways)) {
  test(`writes long records of ${what} in small batches, to bound memory`, async (t) => {
    const { store, batches } = weighed(await openEmpty(t));
    const most = Math.ceil(ingestBounds.importBatchCharacters / note.length);
    assert.equal((await write(store, 2 * most + 2)).written, 2 * most + 2);
    assert.deepEqual(pluck(batches, 'length'), [most, most, 2]);
  });
}

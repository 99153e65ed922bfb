import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ingestBounds } from '../../../common/src/bounds/operator.ts';
import { balances, brands } from '../../../store/test/suite/records.ts';
import { byTest, createdAt } from '../../../testkit/fixtures/fixture.ts';
import { pluck } from '../../../testkit/fixtures/pluck.ts';
import { readJsonLines } from '../../src/ingest/json.ts';
import {
  balancesOf,
  brand,
  brandsOf,
  importFrom,
  importInto,
  linesOf,
  openEmpty,
  reportOf,
} from './import-into.ts';

test('accepts an empty file', async (t) => {
  const report = await importInto(await openEmpty(t), []);
  assert.deepEqual(report, reportOf({}));
});

test('writes every record of a file with several batches', async (t) => {
  const store = await openEmpty(t);
  const records = Array.from({ length: ingestBounds.importBatchRecords * 2 + 1 }, (_, index) => brand(index));
  const report = await importInto(store, records);
  assert.deepEqual(report, reportOf({ read: 1001, written: 1001 }));
  assert.equal((await brandsOf(store)).length, 1001);
});

test('writes nothing if any line is bad', async (t) => {
  const store = await openEmpty(t);
  await importInto(store, [brand(3), brand(700)]);
  const before = await brandsOf(store);
  const good = Array.from({ length: 1_200 }, (_, index) => brand(index, { name: 'Changed' }));
  for (const position of [0, 1, 499, 500, 501, 1_200]) {
    const report = await importInto(store, good.toSpliced(position, 0, { name: 5 }));
    assert.deepEqual([report.read, report.written, report.unchanged, report.rejected_count], [1201, 0, 0, 1]);
    assert.equal(report.rejected[0]?.line, position + 1);
    assert.deepEqual(await brandsOf(store), before);
  }
});

test('writes nothing if reading fails, and allows the next import', async (t) => {
  const store = await openEmpty(t);
  async function* broken() {
    yield linesOf([...Array(600).keys()].map((index) => brand(index)));
    throw new Error('the disk is gone');
  }
  await assert.rejects(
    importFrom(store, () => readJsonLines(broken()), { skipInvalid: true }),
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

test('a dry run reports what a run would do, and writes nothing', async (t) => {
  const store = await openEmpty(t);
  await importInto(store, [brand(1), brand(2)]);
  const before = await brandsOf(store);
  const lines = [brand(1), brand(2, { name: 'Changed' }), brand(3), '{"id":5}'];
  for (const skipInvalid of [false, true]) {
    const dry = await importInto(store, lines, { skipInvalid, dryRun: true });
    assert.deepEqual(await brandsOf(store), before);
    const wet = await importInto(store, lines, { skipInvalid });
    assert.deepEqual(dry, wet);
    assert.deepEqual([wet.written, wet.unchanged], skipInvalid ? [2, 1] : [0, 0]);
  }
});

test('reports at most 1,000 rejected lines, the first ones, and counts them all', async (t) => {
  const lines = Array.from({ length: 1_500 }, (_, index) => (index % 3 === 0 ? brand(index) : 'nonsense'));
  const many = [...lines, ...lines];
  const report = await importInto(await openEmpty(t), many, { skipInvalid: true });
  assert.equal(report.rejected_count, 2_000);
  assert.equal(report.rejected.length, 1_000);
  assert.deepEqual(
    [report.rejected[0]?.line, report.rejected[1]?.line, report.rejected[999]?.line],
    [2, 3, 1500],
  );
});

test('issues missing ids in the order of the file, and the current time', async (t) => {
  const store = await openEmpty(t);
  const before = new Date().toISOString();
  const names = Array.from({ length: 50 }, (_, index) => `Name ${index}`);
  await importInto(
    store,
    names.map((name) => ({ name, reference_id: 'r', id: null, created_at: null })),
  );
  const records = await brandsOf(store);
  assert.deepEqual(pluck(records, 'name'), names);
  for (const { id, created_at, updated_at } of records) {
    assert.match(String(id), /^BRAND_[0-9a-f]{32}$/);
    assert.ok(String(created_at) >= before && String(created_at) <= new Date().toISOString());
    assert.equal(updated_at, created_at);
  }
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

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { balances, brands } from '../../../store/test/suite/records.ts';
import { createdAt, past } from '../../../testkit/fixtures/fixture.ts';
import { pluck } from '../../../testkit/fixtures/pluck.ts';
import { balancesOf, brand, brandsOf, faultsOf, importInto, money, openEmpty } from './import-into.ts';

test('keeps updated_at of a record that differs only in its times', async (t) => {
  const store = await openEmpty(t);
  const full = { color: '#000000', profile_image_url: 'https://x.example/', metadata: { a: '1', b: '2' } };
  const stored = { created_at: createdAt, updated_at: createdAt };
  await importInto(store, [brand(1, { ...full, ...stored }), brand(2, stored)]);
  const before = await brandsOf(store);
  const again = [
    brand(1, { ...full, metadata: { b: '2', a: '1' } }),
    brand(2, { created_at: past, color: null }),
  ];
  const report = await importInto(store, again);
  assert.deepEqual([report.written, report.unchanged], [0, 2]);
  assert.deepEqual(await brandsOf(store), before);
});

test('a replaced record keeps only its created_at; its updated_at is now by default', async (t) => {
  const store = await openEmpty(t);
  const old = { color: '#000000', metadata: { a: '1' }, created_at: createdAt, updated_at: createdAt };
  await importInto(store, [brand(1, old), brand(2, old)]);
  const before = new Date().toISOString();
  const dated = brand(1, { name: 'New', created_at: past, updated_at: past });
  const report = await importInto(store, [dated, brand(2, { name: 'New' })]);
  assert.deepEqual([report.written, report.unchanged], [2, 0]);
  const records = await brandsOf(store);
  for (const { name, created_at, color, metadata } of records) {
    assert.deepEqual([name, created_at, color, metadata], ['New', createdAt, undefined, undefined]);
  }
  assert.equal(records[0]!.updated_at, past);
  assert.ok(String(records[1]!.updated_at) >= before);
});

test('of two lines with the same id, the later one wins, also far apart in a long file', async (t) => {
  const store = await openEmpty(t);
  // Three megabytes: the first records are already being written when they come again.
  const metadata = { note: 'x'.repeat(32_000) };
  const long = Array.from({ length: 100 }, (_, index) => brand(index, { metadata }));
  const again = [brand(1, { metadata }), brand(2, { metadata, name: 'Renamed' }), brand(100)];
  const report = await importInto(store, [...long, ...again]);
  assert.deepEqual([report.written, report.unchanged, report.stale], [101, 0, 2]);
  const names = (await brandsOf(store)).map(({ name }) => name);
  assert.deepEqual([names.length, names[1], names[2], names[3]], [101, 'Name', 'Renamed', 'Name']);
  const rejected = await importInto(store, [brand(140, { metadata }), ...long, brand(141), '{']);
  assert.deepEqual([rejected.written, (await brandsOf(store)).length], [0, 101]);
});

test('the same id under another partner or customer is another record', async (t) => {
  const store = await openEmpty(t);
  await importInto(store, [brand(1, { name: 'Of Acme' })]);
  await importInto(store, [brand(1, { name: 'Of Zenith' })], { partnerId: 'zenith' });
  assert.deepEqual(pluck(await brandsOf(store, 'acme'), 'name'), ['Of Acme']);
  assert.deepEqual(pluck(await brandsOf(store, 'zenith'), 'name'), ['Of Zenith']);

  const balance = { ...money, id: 'b', amount: 1 };
  const both = [balance, { ...balance, customer_id: 'zoe', amount: 2 }];
  assert.equal((await importInto(store, both, { kind: 'balances' })).written, 2);
  assert.deepEqual(pluck(await balancesOf(store, 'alice'), 'amount'), [1]);
  assert.deepEqual(pluck(await balancesOf(store, 'zoe'), 'amount'), [2]);

  const grants = ['alice', 'zoe'].map((customer_id) => ({ id: 'g', partner_id: 'acme', customer_id }));
  assert.equal((await importInto(store, grants, { kind: 'grants' })).written, 2);
  assert.deepEqual(pluck(await store.findGrants('g'), 'customer_id'), ['alice', 'zoe']);
});

test('refuses a grant of a partner that does not exist, once for each line', async (t) => {
  const store = await openEmpty(t);
  const grant = { customer_id: 'alice', partner_id: 'nobody' };
  const lines = [{ ...grant, partner_id: 'acme' }, grant, grant, { ...grant, partner_id: 'ACME' }];
  const report = await importInto(store, lines, { kind: 'grants' });
  const expected = [2, 3, 4].map((line) => [line, ['partner_id', 'UNKNOWN_PARTNER']]);
  assert.deepEqual(faultsOf(report), expected);
  assert.deepEqual(await store.listGrants({ partnerId: 'acme', at: createdAt }), []);
});

test('a grant is active and for checking balances by default', async (t) => {
  const store = await openEmpty(t);
  const times = { created_at: createdAt, updated_at: createdAt };
  const grant = { id: 'g', partner_id: 'acme', customer_id: 'alice', ...times };
  await importInto(store, [grant], { kind: 'grants' });
  const expected = { ...grant, action: 'CHECKING_BALANCE', status: 'ACTIVE' };
  assert.deepEqual(await store.listGrants({ partnerId: 'acme', customerId: 'alice', at: createdAt }), [
    expected,
  ]);
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

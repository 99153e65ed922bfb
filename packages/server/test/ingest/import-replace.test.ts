import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createdAt, future, past } from '../../../testkit/fixtures/fixture.ts';
import { balances, brands } from '../store/suite/records.ts';
import { balancesOf, brand, brandsOf, importInto, money, openEmpty } from './import-into.ts';

test('keeps updated_at of a record that is equal but for its times', async (t) => {
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

test('keeps created_at when a record is replaced, and nothing else of it', async (t) => {
  const store = await openEmpty(t);
  const old = { color: '#000000', metadata: { a: '1' }, created_at: createdAt, updated_at: createdAt };
  await importInto(store, [brand(1, old)]);
  const report = await importInto(store, [brand(1, { name: 'New', created_at: future, updated_at: past })]);
  assert.deepEqual([report.written, report.unchanged], [1, 0]);
  const [{ color, metadata, ...rest } = {}] = await brandsOf(store);
  assert.deepEqual({ color, metadata }, { color: undefined, metadata: undefined });
  assert.deepEqual([rest.name, rest.created_at, rest.updated_at], ['New', createdAt, past]);
});

test('gives a replaced record the time of now when it brings none', async (t) => {
  const store = await openEmpty(t);
  await importInto(store, [brand(1, { created_at: createdAt, updated_at: createdAt })]);
  const before = new Date().toISOString();
  await importInto(store, [brand(1, { name: 'New' })]);
  const [record] = await brandsOf(store);
  assert.equal(record?.created_at, createdAt);
  assert.ok(String(record?.updated_at) >= before);
});

test('takes each change of a single field as a change', async (t) => {
  const store = await openEmpty(t);
  const base = { color: '#000000', profile_image_url: 'https://x.example/', metadata: { a: '1' } };
  const changes = [
    ...[{ name: 'Other' }, { reference_id: 'other' }, { color: '#000001' }, { color: null }],
    ...[{ profile_image_url: 'https://y.example/' }, { profile_image_url: null }],
    ...[{ metadata: {} }, { metadata: null }],
  ];
  for (const change of changes) {
    await importInto(store, [brand(1, base)]);
    const report = await importInto(store, [brand(1, { ...base, ...change })]);
    assert.deepEqual([report.written, report.unchanged], [1, 0], JSON.stringify(change));
  }
});

test('lets the later line win where an id stands twice in a file', async (t) => {
  const store = await openEmpty(t);
  await importInto(store, [brand(1, { name: 'First' }), brand(2), brand(1, { name: 'Last' })]);
  const names = (await brandsOf(store)).map(({ name }) => name);
  assert.deepEqual(names, ['Last', 'Name']);
});

test('takes what is repeated in a long file as it takes what is new in it', async (t) => {
  const store = await openEmpty(t);
  // Three megabytes: what comes first is on its way to the table when it comes again.
  const metadata = { note: 'x'.repeat(100_000) };
  const long = Array.from({ length: 30 }, (_, index) => brand(index, { metadata }));
  const again = [brand(1, { metadata }), brand(2, { metadata, name: 'Renamed' }), brand(30)];
  const report = await importInto(store, [...long, ...again]);
  assert.deepEqual([report.written, report.unchanged], [32, 1]);
  const names = (await brandsOf(store)).map(({ name }) => name);
  assert.deepEqual([names.length, names[1], names[2], names[3]], [31, 'Name', 'Renamed', 'Name']);
  const rejected = await importInto(store, [brand(40, { metadata }), ...long, brand(41), '{']);
  assert.deepEqual([rejected.written, (await brandsOf(store)).length], [0, 31]);
});

test('takes the same id under another partner or customer as another record', async (t) => {
  const store = await openEmpty(t);
  await importInto(store, [brand(1, { name: 'Of Acme' })]);
  await importInto(store, [brand(1, { name: 'Of Zenith' })], { partnerId: 'zenith' });
  assert.deepEqual(
    (await brandsOf(store, 'acme')).map(({ name }) => name),
    ['Of Acme'],
  );
  assert.deepEqual(
    (await brandsOf(store, 'zenith')).map(({ name }) => name),
    ['Of Zenith'],
  );

  const balances = [
    { ...money, id: 'b', amount: 1 },
    { ...money, id: 'b', customer_id: 'zoe', amount: 2 },
  ];
  assert.equal((await importInto(store, balances, { kind: 'balances' })).written, 2);
  assert.deepEqual(
    (await balancesOf(store, 'alice')).map(({ amount }) => amount),
    [1],
  );
  assert.deepEqual(
    (await balancesOf(store, 'zoe')).map(({ amount }) => amount),
    [2],
  );

  const grant = { id: 'g', partner_id: 'acme' };
  const grants = [
    { ...grant, customer_id: 'alice' },
    { ...grant, customer_id: 'zoe' },
  ];
  assert.equal((await importInto(store, grants, { kind: 'grants' })).written, 2);
  assert.deepEqual(
    (await store.findGrants('g')).map(({ customer_id }) => customer_id),
    ['alice', 'zoe'],
  );
});

test('refuses a grant of a partner that does not exist, once for each line', async (t) => {
  const store = await openEmpty(t);
  const grant = { customer_id: 'alice', partner_id: 'nobody' };
  const lines = [{ ...grant, partner_id: 'acme' }, grant, grant, { ...grant, partner_id: 'ACME' }];
  const report = await importInto(store, lines, { kind: 'grants' });
  assert.deepEqual(
    report.rejected.map(({ line, errors }) => [line, ...errors.map(({ field, code }) => [field, code])]),
    [2, 3, 4].map((line) => [line, ['partner_id', 'UNKNOWN_PARTNER']]),
  );
  assert.deepEqual(await store.listGrants('acme', undefined), []);
});

test('makes a grant active for checking balances where it does not say', async (t) => {
  const store = await openEmpty(t);
  const times = { created_at: createdAt, updated_at: createdAt };
  const grant = { id: 'g', partner_id: 'acme', customer_id: 'alice', ...times };
  await importInto(store, [grant], { kind: 'grants' });
  const expected = { ...grant, action: 'CHECKING_BALANCE', status: 'ACTIVE' };
  assert.deepEqual(await store.listGrants('acme', 'alice'), [expected]);
});

test('writes what it takes: no record that passes the check is refused by the database', async (t) => {
  const store = await openEmpty(t);
  let count = 0;
  const property = fc.asyncProperty(brands, balances, async (someBrand, someBalance) => {
    const id = `${someBrand.id}${++count}`;
    const { written } = await importInto(store, [{ ...someBrand, id }]);
    assert.equal(written, 1);
    const customer_id = `${someBalance.customer_id}${count}`;
    const report = await importInto(store, [{ ...someBalance, customer_id }], { kind: 'balances' });
    assert.equal(report.written, 1);
    assert.deepEqual(await balancesOf(store, customer_id), [{ ...someBalance, customer_id }]);
  });
  await fc.assert(property, { numRuns: 60 });
  assert.equal((await brandsOf(store)).length, count);
});

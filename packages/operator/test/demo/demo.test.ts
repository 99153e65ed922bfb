import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { toTime } from '@partner-network/common/times';
import type { Environment } from '@partner-network/contract/environments';
import { digestOfKey, environmentOfAdminKey, environmentOfKey } from '../../../service/src/auth.ts';
import { toCreate } from '../../../store/src/address.ts';
import type { Store, UsageCount } from '../../../store/src/port.ts';
import { openSqlite } from '../../../store/src/sqlite/open.ts';
import { byTest, createdAt } from '../../../testkit/fixtures/fixture.ts';
import { temporaryFolder } from '../../../testkit/fixtures/lifetime.ts';
import { pluck } from '../../../testkit/fixtures/pluck.ts';
import {
  demoAdminKey,
  demoBalances,
  demoBrands,
  demoGrants,
  demoKeys,
  demoPartners,
} from '../../src/demo/data.ts';
import { fillWithDemo, fillWithHistory } from '../../src/demo/fill.ts';

function openEmpty(t: TestContext, environment: Environment = 'sandbox') {
  const store = openSqlite(join(temporaryFolder(t), 'demo.db'), environment, toCreate);
  t.after(store.close);
  return store;
}

test('is the same every time, with a hundred brands a partner, and every kind of balance and grant', () => {
  const make = () => ({
    brands: demoPartners.map((partner, seed) => demoBrands(partner, seed + 1)),
    balances: demoBalances() as { amount: number }[],
    grants: demoGrants() as { status?: string }[],
  });
  const { brands, balances, grants } = make();
  assert.deepEqual(make(), { brands, balances, grants });
  for (const own of brands) {
    assert.ok(own.length >= 100);
    for (const field of ['color', 'profile_image_url', 'metadata']) {
      const having = own.filter((brand) => field in brand).length;
      assert.ok(having > 10 && having < own.length - 10, `${having} brands have ${field}`);
    }
  }
  assert.deepEqual([...new Set(balances.map(({ amount }) => Math.sign(amount)))].toSorted(), [-1, 0, 1]);
  const statuses = new Set([undefined, 'REVOKED', 'CONSUMED', 'EXPIRED']);
  assert.deepEqual(new Set(pluck(grants, 'status')), statuses);
});

test('fills an empty sandbox once, and leaves a sandbox with partners unchanged', async (t) => {
  const store = openEmpty(t);
  await fillWithDemo(store, byTest);
  assert.equal((await store.listPartners()).length, 3);
  const targets = pluck(await store.listAudit({ limit: 100 }), 'target');
  assert.deepEqual(targets.slice(0, 3), ['grants', 'balances', demoPartners[2]!.id]);
  assert.equal(targets.length, 1 + 3 + demoKeys.length + 3 + 2);
  await store.revokeKey('KEY_NORTHWIND', '2026-01-01T00:00:00.000Z', byTest);
  await store.revokeAdminKey(demoAdminKey.id, '2026-01-01T00:00:00.000Z', byTest);
  await fillWithDemo(store, byTest);
  assert.equal((await store.findKey(digestOfKey(demoKeys[0].text)))?.isRevoked, true);
  assert.equal((await store.findAdminKey(digestOfKey(demoAdminKey.text)))?.isRevoked, true);
});

test('adds the administrative key to what an older version has filled, and to no other data', async (t) => {
  const store = openEmpty(t);
  const adminKey = () => store.findAdminKey(digestOfKey(demoAdminKey.text));
  await store.createPartner({ id: 'acme', name: 'acme', created_at: createdAt }, byTest);
  assert.equal(await fillWithDemo(store, byTest), false);
  assert.equal(await adminKey(), undefined);
  const { id, name } = demoPartners[0];
  await store.createPartner({ id, name, created_at: createdAt }, byTest);
  await fillWithDemo({ ...store, createAdminKey: async () => {} }, byTest);
  assert.equal(await adminKey(), undefined);
  assert.equal(await fillWithDemo(store, byTest), true);
  assert.equal((await adminKey())?.role, 'ADMIN');
});

test('completes an earlier fill that was cut off', async (t) => {
  const store = openEmpty(t);
  // A real failure in the last step: the table is renamed, and renamed back later.
  const db = new DatabaseSync(store.location);
  t.after(() => db.close());
  db.exec('alter table grants rename to hidden');
  await assert.rejects(fillWithDemo(store, byTest), /no such table/);
  db.exec('alter table hidden rename to grants');

  await fillWithDemo(store, byTest);
  assert.equal((await store.listGrants({ partnerId: 'PARTNER_NORTHWIND', at: createdAt })).length, 9);
  assert.equal((await store.listKeys('PARTNER_NORTHWIND')).length, 4);
});

test('its keys are test keys, and a production database refuses to be filled', async (t) => {
  for (const { text } of demoKeys) assert.equal(environmentOfKey(text), 'sandbox');
  assert.equal(environmentOfAdminKey(demoAdminKey.text), 'sandbox');
  const store = openEmpty(t, 'production');
  await assert.rejects(fillWithDemo(store, byTest), /sandbox only/);
  assert.deepEqual(await store.listPartners(), []);
  assert.equal(await store.findKey(digestOfKey(demoKeys[0].text)), undefined);
  assert.deepEqual(await store.listAdminKeys(), []);
});

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** A Tuesday at 14:20. */
const nowMs = Date.UTC(2026, 10, 17, 14, 20);

const usageOf = (store: Store) => store.listUsage({ by: 'hour', limit: 100_000 });
const sum = (counts: readonly UsageCount[]) => counts.reduce((total, { count }) => total + count, 0);
const olderThan = (counts: readonly UsageCount[], ms: number) =>
  counts.filter(({ from }) => Date.parse(from) < ms);

test('a history of 30 days goes on where it ended, and never counts twice', async (t) => {
  const store = openEmpty(t);
  await fillWithHistory(store, byTest, nowMs);
  const first = await usageOf(store);
  assert.equal(first.at(-1)!.from, toTime(nowMs - 20 * 60_000 - 719 * hourMs));
  assert.ok(first.length > 3_000 && first.length < 10_000, `${first.length}`);
  const ofDay = (day: number) =>
    olderThan(first, Date.UTC(2026, 10, day + 1)).filter(
      ({ from }) => Date.parse(from) >= Date.UTC(2026, 10, day),
    );
  assert.ok(sum(ofDay(12)) > 1.5 * sum(ofDay(14)), 'a Thursday is busier than a Saturday');

  // A real request, and a second start in the same hour.
  const [newest] = first;
  await store.recordUsage([{ ...newest!, count: 1 }]);
  await fillWithHistory(store, byTest, nowMs + 39 * 60_000);
  assert.equal(sum(await usageOf(store)), sum(first) + 1);

  // Three days later, all hours between are there, and the earlier ones are as they were.
  const laterMs = nowMs + 3 * dayMs;
  await fillWithHistory(store, byTest, laterMs);
  const later = await usageOf(store);
  assert.equal(sum(olderThan(later, nowMs)), sum(first) + 1);
  const afternoon = later.filter(({ code, from }) => code === 'OK' && from.endsWith('T13:00:00.000Z'));
  assert.equal(new Set(afternoon.map(({ from }) => from)).size, 33);

  // A year later, the gap stays.
  await fillWithHistory(store, byTest, nowMs + 365 * dayMs);
  const gap = (await usageOf(store)).filter(
    ({ from }) => Date.parse(from) > laterMs && Date.parse(from) < nowMs + 334 * dayMs,
  );
  assert.deepEqual(gap, []);
});

test('shows a refused key in the newest hour, and a receipt of what leaves one', async (t) => {
  const store = openEmpty(t);
  await fillWithHistory(store, byTest, nowMs);
  const newest = await store.listUsage({ by: 'hour', since: toTime(nowMs), limit: 100 });
  const refused = newest
    .filter(({ code }) => code !== 'OK')
    .toSorted((one, other) => other.count - one.count);
  const [most, next] = refused;
  assert.deepEqual([most!.key_id, most!.code], ['KEY_NORTHWIND_BRANDS', 'INSUFFICIENT_SCOPES']);
  assert.ok(most!.count > 10 * next!.count);

  const day = await store.listUsage({ by: 'hour', since: toTime(nowMs - 23 * hourMs), limit: 1_000 });
  const receipts = await store.listReceipts({ limit: 10_000 });
  const requests = day.filter(({ operation, code }) => operation === 'listBalances' || code !== 'OK');
  assert.equal(receipts.length, sum(requests));
  assert.ok(receipts[0]!.at <= toTime(nowMs));
  const [found] = await store.listReceipts({ requestId: receipts[0]!.request_id, limit: 2 });
  assert.deepEqual(found, receipts[0]);
  assert.equal(new Set(receipts.map(({ request_id }) => request_id)).size, receipts.length);
  assert.deepEqual(
    [...(await store.lastUses(['KEY_BLUEBIRD', 'KEY_NORTHWIND_EXPIRED']))],
    [['KEY_BLUEBIRD', toTime(nowMs)]],
  );
});

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { toTime } from '@partner-network/common/times';
import { toCreate } from '../../../store/src/address.ts';
import type { Store, UsageCount } from '../../../store/src/port.ts';
import { openSqlite } from '../../../store/src/sqlite/open.ts';
import { byTest } from '../../../testkit/fixtures/fixture.ts';
import { temporaryFolder } from '../../../testkit/fixtures/folder.ts';
import { fillWithHistory } from '../../src/demo/fill.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** A Tuesday at 14:20. */
const nowMs = Date.UTC(2026, 10, 17, 14, 20);

const usageOf = (store: Store) => store.listUsage({ by: 'hour', limit: 100_000 });
const sum = (counts: readonly UsageCount[]) => counts.reduce((total, { count }) => total + count, 0);
const olderThan = (counts: readonly UsageCount[], ms: number) =>
  counts.filter(({ from }) => Date.parse(from) < ms);

test('a history of 30 days goes on where it ended, and never counts twice', async (t) => {
  const store = openSqlite(join(temporaryFolder(t), 'demo.db'), 'sandbox', toCreate);
  t.after(() => store.close());
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

test('shows a refused key in the newest hour, and a receipt of each request for balances', async (t) => {
  const store = openSqlite(join(temporaryFolder(t), 'demo.db'), 'sandbox', toCreate);
  t.after(() => store.close());
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
  const requests = day.filter(({ operation }) => operation === 'listBalances');
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

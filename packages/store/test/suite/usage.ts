/** Counts of answers. */
import assert from 'node:assert/strict';
import { byTest } from '../../../testkit/fixtures/fixture.ts';
import type { Store, UsageCount, UsageQuery } from '../../src/port.ts';
import type { StoreTests } from './records.ts';

function hour(day: number, number: number): string {
  return `2026-06-0${day}T${String(number).padStart(2, '0')}:00:00.000Z`;
}

function countOf(from: string, more: Partial<UsageCount> = {}): UsageCount {
  return {
    from,
    partner_id: 'acme',
    key_id: 'KEY_1',
    operation: 'listBrands',
    code: 'OK',
    count: 1,
    ...more,
  };
}

/** All counts, read page by page. */
async function walk(store: Store, query: Omit<UsageQuery, 'limit'>, limit: number): Promise<UsageCount[]> {
  const all: UsageCount[] = [];
  while (true) {
    const page = await store.listUsage({ ...query, after: all.at(-1), limit });
    all.push(...page);
    if (page.length < limit) return all;
  }
}

const names = ['from', 'partner_id', 'key_id', 'operation', 'code'] as const;
const textOf = (count: UsageCount) => JSON.stringify(names.map((name) => count[name]));

export const usageTests: StoreTests = {
  'adds counts up, also those of several processes': async (open) => {
    const [store, other] = [await open(), await open()];
    await store.recordUsage([countOf(hour(1, 8), { count: 5 }), countOf(hour(1, 9))]);
    await other.recordUsage([countOf(hour(1, 9), { count: 2 }), countOf(hour(1, 8))]);
    assert.deepEqual(await store.listUsage({ by: 'hour', limit: 10 }), [
      countOf(hour(1, 9), { count: 3 }),
      countOf(hour(1, 8), { count: 6 }),
    ]);
    assert.deepEqual(await store.listUsage({ by: 'day', limit: 10 }), [
      countOf('2026-06-01T00:00:00.000Z', { count: 9 }),
    ]);
  },

  'keeps the highest peak and the longest answer of an hour, and of a day': async (open) => {
    const store = await open();
    for (const { peak, slowest_ms } of [{ peak: 7, slowest_ms: 90 }, { peak: 50 }, { slowest_ms: 0 }, {}])
      await store.recordUsage([countOf(hour(1, 8), { peak, slowest_ms })]);
    await store.recordUsage([countOf(hour(1, 9), { slowest_ms: 91 }), countOf(hour(2, 9))]);
    const hours = [countOf(hour(2, 9)), countOf(hour(1, 9), { slowest_ms: 91 })];
    const first = { peak: 50, slowest_ms: 90, count: 4 };
    assert.deepEqual(await store.listUsage({ by: 'hour', limit: 10 }), [
      ...hours,
      countOf(hour(1, 8), first),
    ]);
    const days = await store.listUsage({ by: 'day', limit: 10 });
    assert.deepEqual(days[1], countOf(hour(1, 0), { peak: 50, slowest_ms: 91, count: 5 }));
  },

  'lists usage newest first, by partner, key and time, each count once': async (open) => {
    const store = await open();
    const all: UsageCount[] = [];
    for (const day of [1, 2, 3]) {
      for (const at of [hour(day, 0), hour(day, 23)]) {
        for (const [partner_id, key_id] of [
          ['acme', 'KEY_1'],
          ['acme', 'KEY_2'],
          ['\u{1f98a}', 'KEY_3'],
        ]) {
          for (const code of ['OK', 'RATE_LIMITED'])
            all.push(countOf(at, { partner_id: partner_id!, key_id: key_id!, code, count: all.length + 1 }));
        }
      }
    }
    await store.recordUsage(all);
    const sorted = all.toSorted((one, other) =>
      Buffer.compare(Buffer.from(textOf(other)), Buffer.from(textOf(one))),
    );
    assert.deepEqual(await walk(store, { by: 'hour' }, 5), sorted);
    assert.deepEqual(
      await walk(store, { by: 'hour', partnerId: 'acme' }, 7),
      sorted.filter(({ partner_id }) => partner_id === 'acme'),
    );
    assert.deepEqual(
      await walk(store, { by: 'hour', keyId: 'KEY_2', since: hour(2, 0), until: hour(3, 23) }, 3),
      sorted.filter(({ key_id, from }) => key_id === 'KEY_2' && from >= hour(2, 0) && from < hour(3, 23)),
    );
    const days = await walk(store, { by: 'day' }, 4);
    assert.equal(days.length, 18);
    assert.equal(
      days.reduce((sum, { count }) => sum + count, 0),
      all.reduce((sum, { count }) => sum + count, 0),
    );
    assert.deepEqual(
      days.map(textOf),
      days.map(textOf).toSorted((one, other) => (one < other ? 1 : -1)),
    );
  },

  'includes the whole hour or day in which the time begins and ends': async (open) => {
    const store = await open();
    await store.recordUsage([countOf(hour(1, 8)), countOf(hour(1, 9)), countOf(hour(2, 9))]);
    const since = '2026-06-01T09:59:59.999Z';
    assert.equal((await store.listUsage({ by: 'hour', since, limit: 10 })).length, 2);
    assert.deepEqual(
      (await store.listUsage({ by: 'day', since, limit: 10 })).map(({ count }) => count),
      [1, 2],
    );
    const until = '2026-06-01T08:00:00.001Z';
    assert.equal((await store.listUsage({ by: 'hour', until, limit: 10 })).length, 1);
    assert.deepEqual(
      (await store.listUsage({ by: 'day', until, limit: 10 })).map(({ count }) => count),
      [2],
    );
    assert.deepEqual(await store.listUsage({ by: 'day', until: hour(1, 0), limit: 10 }), []);
  },

  'adds up an hour by partner': async (open) => {
    const store = await open();
    await store.recordUsage([
      countOf(hour(1, 8), { count: 5, peak: 7 }),
      countOf(hour(1, 8), { key_id: 'KEY_2', peak: 9 }),
      countOf(hour(1, 8), { key_id: 'KEY_2', code: 'RATE_LIMITED', count: 1 }),
      countOf(hour(1, 8), { operation: 'listBalances', code: 'GRANT_EXPIRED', count: 4 }),
      countOf(hour(1, 8), { partner_id: 'zenith' }),
      countOf(hour(1, 8), { partner_id: 'zenith', code: 'PARTNER_DISABLED', count: 2 }),
      countOf(hour(1, 9)),
    ]);
    const found = (await store.usageOfHour(hour(1, 8))).toSorted((one) =>
      one.partner_id === 'acme' ? -1 : 1,
    );
    assert.deepEqual(found, [
      { partner_id: 'acme', answers: 11, refused: 5, limited: 1, disabled: 0, brands: 9, balances: 0 },
      { partner_id: 'zenith', answers: 3, refused: 2, limited: 0, disabled: 2, brands: 0, balances: 0 },
    ]);
    assert.deepEqual(await store.usageOfHour(hour(2, 8)), []);
  },

  'deletes old usage with an audit entry': async (open) => {
    const store = await open();
    await store.recordUsage([countOf(hour(1, 8)), countOf(hour(1, 9)), countOf(hour(2, 9))]);
    const before = '2026-06-01T09:30:00.000Z';
    assert.equal(await store.countOld('usage', before), 1);
    assert.equal(await store.prune('usage', before, { ...byTest, action: 'usage prune' }), 1);
    assert.equal(await store.prune('usage', before, byTest), 0);
    assert.equal((await store.listUsage({ by: 'hour', limit: 10 })).length, 2);
    const [entry] = await store.listAudit({ limit: 1 });
    assert.deepEqual([entry?.action, entry?.target], ['usage prune', 'usage']);
    assert.deepEqual(entry?.details, { before: hour(1, 9), usage: 1 });
  },
};

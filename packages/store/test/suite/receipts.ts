import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { receiptsBounds } from '../../../common/src/bounds/service.ts';
import { toTime } from '../../../common/src/times.ts';
import { byTest } from '../../../testkit/fixtures/fixture.ts';
import type { Receipt, ReceiptCountsQuery, ReceiptsQuery, Store } from '../../src/port.ts';
import type { StoreTests } from './records.ts';

const startMs = Date.parse('2026-06-01T00:00:00.000Z');

export function receiptAt(ms: number, more: Partial<Receipt> = {}): Receipt {
  const who = { partner_id: 'acme', key_id: 'KEY_1', customer_id: 'alice', grant_id: 'g' };
  const request = { request_id: randomUUID(), operation: 'listBalances' } as const;
  return { at: toTime(startMs + ms), ...request, ...who, outcome: 'GRANTED', ...more };
}

/** All receipts, read page by page. */
async function walk(store: Store, query: Omit<ReceiptsQuery, 'limit'>, limit: number): Promise<Receipt[]> {
  const all: Receipt[] = [];
  while (true) {
    const page = await store.listReceipts({ ...query, after: all.at(-1), limit });
    all.push(...page);
    if (page.length < limit) return all;
  }
}

export const receiptTests: StoreTests = {
  'starts without receipts and key uses': async (open) => {
    const store = await open();
    assert.deepEqual(await store.listReceipts({ limit: 10 }), []);
    assert.deepEqual(await store.lastUses(['KEY_1']), new Map());
    assert.equal(await store.countOld('receipts', toTime(startMs)), 0);
    assert.equal(await store.prune('receipts', toTime(startMs), byTest), 0);
  },

  'returns receipts as they were recorded, from every open store': async (open) => {
    const store = await open();
    const { customer_id: _, grant_id: __, ...ofNobody } = receiptAt(1, { outcome: 'API_KEY_REVOKED' });
    const { grant_id: ___, ...withoutGrant } = receiptAt(2, { customer_id: '"é\\ 🦊' });
    const longest = receiptAt(3, { customer_id: '🦊'.repeat(128), grant_id: '🦊'.repeat(256) });
    await store.recordReceipts([ofNobody, withoutGrant, longest]);
    assert.deepEqual(await (await open()).listReceipts({ limit: 10 }), [longest, withoutGrant, ofNobody]);
  },

  'counts receipts by customer, partner and key': async (open) => {
    const store = await open();
    const refused = { outcome: 'GRANT_REVOKED' };
    await store.recordReceipts([
      receiptAt(0),
      receiptAt(1, refused),
      receiptAt(2),
      receiptAt(3, { key_id: 'KEY_2' }),
      receiptAt(4, { customer_id: 'zoe', partner_id: 'zenith' }),
      receiptAt(5, { ...refused, customer_id: '' }),
      receiptAt(6, { operation: 'listBrands', customer_id: '', outcome: 'RATE_LIMITED' }),
    ]);
    const list = async (query: Partial<ReceiptCountsQuery>) => {
      const { counts, cutAt } = await store.countReceipts({ limit: 9, offset: 0, ...query });
      assert.equal(cutAt, undefined);
      return counts.map(({ customer_id, partner_id, key_id, granted, refused, first, last }) =>
        [customer_id, partner_id, key_id, granted, refused, first?.at(-2), last?.at(-2)].join(' '),
      );
    };
    const [alice, second, zoe, nobody] = [
      'alice acme KEY_1 2 1 0 2',
      'alice acme KEY_2 1 0 3 3',
      'zoe zenith KEY_1 1 0 4 4',
      ' acme KEY_1 0 1  ',
    ];
    assert.deepEqual(await list({}), [alice, second, zoe, nobody]);
    assert.deepEqual(await list({ limit: 2, offset: 1 }), [second, zoe]);
    assert.deepEqual(await list({ partnerId: 'zenith', customerId: 'alice' }), []);
    assert.deepEqual(await list({ customerId: 'alice', keyId: 'KEY_2' }), [second]);
    assert.deepEqual(await list({ partnerId: 'acme', outcome: 'GRANTED' }), [
      'alice acme KEY_1 2 0 0 2',
      second,
    ]);
    const span = { since: toTime(startMs + 1), until: toTime(startMs + 5) };
    assert.deepEqual(await list({ ...refused, ...span }), ['alice acme KEY_1 0 1  ']);
    assert.deepEqual(await list({ partnerId: 'acme', ...span }), ['alice acme KEY_1 1 1 2 2', second]);
  },

  'stores a receipt once, however often it is recorded': async (open) => {
    const store = await open();
    const [first, second] = [receiptAt(0), receiptAt(1)];
    await store.recordReceipts([first]);
    await store.recordReceipts([first, second]);
    assert.deepEqual(await store.listReceipts({ limit: 10 }), [second, first]);
  },

  'lists receipts newest first, by any of their fields and by time, each exactly once': async (open) => {
    const store = await open();
    // Three per millisecond, so that the time alone does not order them.
    const all = Array.from({ length: 60 }, (_, index) =>
      receiptAt(Math.floor(index / 3), {
        partner_id: index % 2 === 0 ? 'acme' : 'zenith',
        key_id: index % 4 === 0 ? 'KEY_1' : 'KEY_2',
        customer_id: index % 5 === 0 ? 'alice' : 'zoe',
        operation: index % 6 === 0 ? 'listBrands' : 'listBalances',
        outcome: index % 3 === 0 ? 'GRANT_REVOKED' : 'GRANTED',
      }),
    );
    await store.recordReceipts(all);
    const newestFirst = all.toSorted((one, other) =>
      one.at + one.request_id < other.at + other.request_id ? 1 : -1,
    );
    const since = toTime(startMs + 7);
    const matches = (query: Omit<ReceiptsQuery, 'limit'>) =>
      newestFirst.filter(
        ({ partner_id, key_id, customer_id, request_id, operation, outcome, at }) =>
          partner_id === (query.partnerId ?? partner_id) &&
          key_id === (query.keyId ?? key_id) &&
          customer_id === (query.customerId ?? customer_id) &&
          request_id === (query.requestId ?? request_id) &&
          operation === (query.operation ?? operation) &&
          outcome === (query.outcome ?? outcome) &&
          at >= (query.since ?? at) &&
          (query.until === undefined || at < query.until),
      );
    for (const partnerId of [undefined, 'acme', 'nobody']) {
      for (const customerId of [undefined, 'alice', 'ALICE']) {
        for (const query of [
          { partnerId, customerId },
          { partnerId, customerId, since },
          { partnerId, customerId, since, keyId: 'KEY_2' },
          { partnerId, customerId, outcome: 'GRANTED', until: toTime(startMs + 12) },
          { partnerId, customerId, outcome: 'GRANT_REVOKED', since, until: toTime(startMs + 12) },
          { partnerId, customerId, requestId: all[0]!.request_id },
          { partnerId, customerId, operation: 'listBrands', since, outcome: 'GRANT_REVOKED' },
          { partnerId, customerId, operation: 'listBrands' },
          { partnerId, customerId, operation: 'listBalances', outcome: 'GRANTED' },
        ] as const) {
          assert.deepEqual(await walk(store, query, 4), matches(query));
        }
      }
    }
  },

  'knows when the first and the last refusal of a kind were': async (open) => {
    const store = await open();
    const refused = { outcome: 'GRANT_REVOKED' };
    await store.recordReceipts([
      ...[5, 1_000, 2_000, 3_000].map((ms) => receiptAt(ms, refused)),
      receiptAt(4_000),
      receiptAt(4_001, { ...refused, key_id: 'KEY_2' }),
      receiptAt(4_002, { ...refused, partner_id: 'zenith' }),
      receiptAt(4_003, { outcome: 'RATE_LIMITED' }),
      receiptAt(4_004, { ...refused, operation: 'listBrands' }),
    ]);
    const kind = { partner_id: 'acme', key_id: 'KEY_1', ...refused, operation: 'listBalances' };
    const since = toTime(startMs + 1_000);
    const times = { first: since, last: toTime(startMs + 3_000) };
    assert.deepEqual(await store.refusalTimes({ ...kind, since }), times);
    assert.deepEqual(await store.refusalTimes({ ...kind, since: toTime(startMs + 3_001) }), {});
    const [first, last] = [toTime(startMs + 4_004), toTime(startMs + 4_004)];
    assert.deepEqual(await store.refusalTimes({ ...kind, operation: 'listBrands', since }), { first, last });
  },

  'deletes receipts older than a time, in several batches': async (open) => {
    const store = await open();
    const count = receiptsBounds.pruned + 100;
    const receipts = Array.from({ length: count }, (_, index) => receiptAt(index));
    await store.recordReceipts(receipts);
    const limit = toTime(startMs + count - 10);
    assert.equal(await store.countOld('receipts', limit), count - 10);
    assert.equal(await store.prune('receipts', limit, byTest), count - 10);
    assert.equal(await store.prune('receipts', limit, byTest), 0);
    assert.deepEqual(await store.listReceipts({ limit: 100 }), receipts.slice(-10).toReversed());
  },

  'stores the last use of each key, and ignores an earlier use': async (open) => {
    const store = await open();
    const [first, second] = [toTime(startMs), toTime(startMs + 60_000)];
    await store.recordKeyUses([
      { keyId: 'KEY_2', usedAt: second },
      { keyId: 'KEY_1', usedAt: first },
    ]);
    await store.recordKeyUses([
      { keyId: 'KEY_1', usedAt: second },
      { keyId: 'KEY_2', usedAt: first },
      { keyId: 'KEY_3', usedAt: first },
    ]);
    assert.deepEqual(
      await (await open()).lastUses(['KEY_1', 'KEY_2', 'KEY_4']),
      new Map([
        ['KEY_1', second],
        ['KEY_2', second],
      ]),
    );
  },

  'replaces a last use that a clock wrote while it was ahead, and none that is ahead by seconds': async (
    open,
  ) => {
    const store = await open();
    const nowMs = Date.now();
    const use = (ms: number) => store.recordKeyUses([{ keyId: 'KEY_1', usedAt: toTime(nowMs + ms) }]);
    const lastUse = async () => (await store.lastUses(['KEY_1'])).get('KEY_1');
    const [minute, year] = [60_000, 365 * 86_400_000];
    await use(10 * year);
    await use(-minute);
    assert.equal(await lastUse(), toTime(nowMs - minute));
    // Another instance wrote later what it saw earlier, and a third has a clock that is slightly ahead.
    await use(-year);
    assert.equal(await lastUse(), toTime(nowMs - minute));
    await use(minute / 2);
    await use(0);
    assert.equal(await lastUse(), toTime(nowMs + minute / 2));
  },
};

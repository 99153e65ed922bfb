import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { receiptsBounds } from '../../../common/src/bounds/service.ts';
import {
  type JournalWrites,
  type KeyUse,
  PartlyWritten,
  type Receipt,
  type UsageCount,
} from '../../../store/src/port.ts';
import { receiptAt } from '../../../store/test/suite/receipts.ts';
import { until } from '../../../testkit/fixtures/lifetime.ts';
import { pluck } from '../../../testkit/fixtures/pluck.ts';
import { watchedLog } from '../../../testkit/watch/logs.ts';
import { createJournal, type Journal } from '../../src/receipts.ts';

/** A store that records what it is given, and can fail. */
function rememberingStore() {
  const batches: (readonly Receipt[])[] = [];
  const uses: KeyUse[] = [];
  const usage: UsageCount[] = [];
  let atWork = 0;
  const store = {
    isAway: false,
    refusesUses: false,
    /** The customer whose receipts belong to a node that is down. */
    isDown: undefined as string | undefined,
    /** Batches that it was asked to write. */
    asked: 0,
    batches,
    uses,
    usage,
    receipts: () => batches.flat(),
    async recordReceipts(receipts) {
      store.asked += 1;
      assert.equal(++atWork, 1, 'one batch at a time');
      await new Promise(setImmediate);
      atWork -= 1;
      if (store.isAway) throw new Error('away');
      const rest = receipts.filter(
        ({ customer_id }) => customer_id !== undefined && customer_id === store.isDown,
      );
      batches.push(receipts.filter((receipt) => !rest.includes(receipt)));
      if (rest.length > 0) throw new PartlyWritten(rest, new Error('away'));
    },
    async recordKeyUses(given) {
      if (store.isAway || store.refusesUses) throw new Error('away');
      uses.push(...given);
    },
    async recordUsage(given) {
      if (store.isAway) throw new Error('away');
      usage.push(...structuredClone(given));
    },
  } satisfies JournalWrites & Record<string, unknown>;
  return store;
}

/** A journal on this store, and the lines that it logs. */
function openJournal(t: TestContext) {
  const store = rememberingStore();
  const { log, lines } = watchedLog();
  const journal = createJournal(store, log);
  t.after(journal.close);
  const logged = () => lines().map(({ level, msg }) => `${level} ${msg}`);
  return { store, journal: { ...journal, logged } };
}

function read({ metrics }: Journal): Record<string, number> {
  return Object.fromEntries(
    metrics.map(({ name, read }) => [name.replace('partner_network_receipts_', ''), read()[0]!.value]),
  );
}

function receiptsOf(count: number): Receipt[] {
  return Array.from({ length: count }, (_, index) => receiptAt(index));
}

test('writes receipts together, in order, within a second', async (t) => {
  const { store, journal } = openJournal(t);
  const receipts = receiptsOf(10);
  // A timer of the same event loop: on a busy machine it is late by as much as the journal's own.
  const second = wait(1_000);
  for (const receipt of receipts) journal.add(receipt);
  assert.deepEqual(store.batches, []);
  await second;
  assert.equal(store.asked, 1);
  await until(20_000, () => store.batches.length > 0);
  assert.deepEqual(store.batches, [receipts]);
  assert.deepEqual(read(journal), { waiting: 0, written_total: 10, dropped_total: 0 });
});

test('writes many in bounded batches', async (t) => {
  const { store, journal } = openJournal(t);
  const receipts = receiptsOf(2 * receiptsBounds.batch + 1);
  for (const receipt of receipts) journal.add(receipt);
  await journal.close();
  const { batch } = receiptsBounds;
  assert.deepEqual(pluck(store.batches, 'length'), [batch, batch, 1]);
  assert.deepEqual(store.receipts(), receipts);
});

test('keeps receipts during an outage, and writes them after it', async (t) => {
  const { store, journal } = openJournal(t);
  store.isAway = true;
  const [first, second] = [receiptAt(0), receiptAt(1)];
  journal.add(first);
  journal.noteUse('KEY_1', 0);
  await until(20_000, () => journal.logged().length > 1);
  journal.add(second);
  assert.deepEqual(read(journal), { waiting: 2, written_total: 0, dropped_total: 0 });
  store.isAway = false;
  await until(20_000, () => journal.logged().length > 3);
  assert.deepEqual([store.receipts(), store.uses.length], [[first, second], 1]);
  assert.deepEqual(journal.logged().toSorted(), [
    '40 last uses of keys can be written again',
    '40 receipts can be written again',
    '50 last uses of keys cannot be written; they are kept in memory',
    '50 receipts cannot be written; they are kept in memory',
  ]);
});

test('writes the receipts of other nodes while a node is down, and its own after its return', async (t) => {
  const { store, journal } = openJournal(t);
  store.isDown = 'far';
  const { batch } = receiptsBounds;
  const far = receiptsOf(2 * batch + 1).map((receipt) => ({ ...receipt, customer_id: 'far' }));
  const near = Array.from({ length: batch }, (_, index) => receiptAt(-1 - index));
  for (const receipt of [...near.slice(0, 9), ...far, ...near.slice(9)]) journal.add(receipt);
  await until(20_000, () => journal.logged().length > 0);
  assert.deepEqual(store.receipts(), near);
  assert.deepEqual(read(journal), { waiting: far.length, written_total: near.length, dropped_total: 0 });
  store.isDown = undefined;
  await until(20_000, () => journal.logged().length > 1);
  assert.deepEqual(new Set(store.receipts()), new Set([...near, ...far]));
  assert.deepEqual(journal.logged(), [
    '50 receipts cannot be written; they are kept in memory',
    '40 receipts can be written again',
  ]);
});

test('while a node is down, its receipts get at most half of the memory', async (t) => {
  const { store, journal } = openJournal(t);
  store.isDown = 'far';
  const most = receiptsBounds.waiting / 2;
  for (const receipt of receiptsOf(most + 5)) journal.add({ ...receipt, customer_id: 'far' });
  await until(20_000, () => read(journal).waiting === most);
  assert.deepEqual(read(journal), { waiting: most, written_total: 0, dropped_total: 5 });
  store.isDown = undefined;
  await until(20_000, () => read(journal).waiting === 0);
  assert.equal(store.receipts().length, most);
});

test('writes receipts even if key uses cannot be written, and logs only the key uses', async (t) => {
  const { store, journal } = openJournal(t);
  store.refusesUses = true;
  const receipts = receiptsOf(receiptsBounds.batch + 1);
  for (const receipt of receipts) journal.add(receipt);
  journal.noteUse('KEY_1', 0);
  await until(20_000, () => journal.logged().length > 0);
  assert.deepEqual(store.receipts(), receipts);
  store.refusesUses = false;
  await until(20_000, () => journal.logged().length > 1);
  assert.equal(store.uses.length, 1);
  assert.deepEqual(journal.logged(), [
    '50 last uses of keys cannot be written; they are kept in memory',
    '40 last uses of keys can be written again',
  ]);
});

test('keeps a limited number: newer receipts are dropped, counted, and logged once', async (t) => {
  const { store, journal } = openJournal(t);
  store.isAway = true;
  const receipts = receiptsOf(receiptsBounds.waiting + 5);
  for (const receipt of receipts) journal.add(receipt);
  assert.deepEqual(read(journal), {
    waiting: receiptsBounds.waiting,
    written_total: 0,
    dropped_total: 5,
  });
  const lost = '50 too many receipts wait to be written; new ones are lost';
  assert.deepEqual(journal.logged(), [lost]);
  store.isAway = false;
  await journal.close();
  assert.deepEqual(read(journal), {
    waiting: 0,
    written_total: receiptsBounds.waiting,
    dropped_total: 5,
  });
  assert.deepEqual(store.receipts().at(-1), receipts[receiptsBounds.waiting - 1]);
  assert.deepEqual(journal.logged(), [lost]);
});

test('gives up at shutdown, and logs how many receipts are lost', async (t) => {
  const { store, journal } = openJournal(t);
  store.isAway = true;
  journal.add(receiptAt(0));
  const startedMs = performance.now();
  await journal.close();
  assert.ok(performance.now() - startedMs < receiptsBounds.closeMs + 3_000);
  assert.equal(journal.logged().at(-1), '50 receipts were not written before shutdown and are lost');
});

test('writes the use of a key at most once a minute', async (t) => {
  const { store, journal } = openJournal(t);
  const minute = Date.parse('2026-06-01T12:34:00.000Z');
  for (const ms of [0, 1, 59_999]) journal.noteUse('KEY_1', minute + ms);
  journal.noteUse('KEY_2', minute + 5);
  await until(20_000, () => store.uses.length > 0);
  for (const ms of [59_999, 60_000, 61_000]) journal.noteUse('KEY_1', minute + ms);
  await journal.close();
  assert.deepEqual(store.uses, [
    { keyId: 'KEY_1', usedAt: '2026-06-01T12:34:00.000Z' },
    { keyId: 'KEY_2', usedAt: '2026-06-01T12:34:00.000Z' },
    { keyId: 'KEY_1', usedAt: '2026-06-01T12:35:00.000Z' },
  ]);
  assert.deepEqual(store.batches, []);
});

test('keeps a limited number of keys in memory', async (t) => {
  const { store, journal } = openJournal(t);
  for (let index = 0; index < receiptsBounds.keyUsesNoted + 5; index += 1) journal.noteUse(`KEY_${index}`, 0);
  await journal.close();
  assert.equal(store.uses.length, receiptsBounds.keyUsesNoted);
});

const [eight, nine] = ['2026-06-01T08:00:00.000Z', '2026-06-01T09:00:00.000Z'];
const key = { id: 'KEY_1', partnerId: 'acme' };

/** The counts that were written, added up. */
function total(usage: readonly UsageCount[]): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const { from, partner_id, key_id, operation, code, count } of usage) {
    const name = [from, partner_id, key_id, operation, code].join(' ');
    sums[name] = (sums[name] ?? 0) + count;
  }
  return sums;
}

test('counts answers by hour, key, operation and code, and loses none at a clean stop', async (t) => {
  const { store, journal } = openJournal(t);
  const atMs = (time: string) => Date.parse(time);
  for (let index = 0; index < 1_000; index += 1) {
    journal.count(key, 'listBrands', undefined, atMs(eight) + index);
  }
  journal.count(key, 'listBrands', 'RATE_LIMITED', atMs(nine) - 1);
  journal.count(key, 'listBalances', undefined, atMs(nine));
  journal.count({ id: 'KEY_2', partnerId: 'zenith' }, 'listBrands', undefined, atMs(nine));
  assert.deepEqual(store.usage, []);
  await journal.close();
  assert.deepEqual(total(store.usage), {
    [`${eight} acme KEY_1 listBrands OK`]: 1_000,
    [`${eight} acme KEY_1 listBrands RATE_LIMITED`]: 1,
    [`${nine} acme KEY_1 listBalances OK`]: 1,
    [`${nine} zenith KEY_2 listBrands OK`]: 1,
  });
});

test('counts of answers carry the peak of the partner in that hour, and the longest answer', async (t) => {
  const { store, journal } = openJournal(t);
  const [at, other] = [Date.parse(eight), { id: 'KEY_2', partnerId: 'acme' }];
  journal.count(key, 'listBrands', undefined, at, { admitted: 3, ms: 1.4 });
  journal.count(key, 'listBrands', 'INVALID_CURSOR', at, { admitted: 50, ms: 900 });
  journal.count(other, 'listBrands', undefined, at, { admitted: 4, ms: 12.6 });
  journal.count(other, 'listBrands', 'UNAUTHORIZED', at);
  journal.count(key, 'listBalances', undefined, at, { ms: 2 });
  journal.count(key, 'listBrands', undefined, Date.parse(nine), { admitted: 1, ms: 0 });
  await journal.close();
  assert.deepEqual(
    store.usage.map(({ from, key_id, operation, code, peak, slowest_ms }) =>
      [from.slice(11, 13), key_id, operation, code, peak, slowest_ms].join(' '),
    ),
    [
      '08 KEY_1 listBrands OK 50 1',
      '08 KEY_1 listBrands INVALID_CURSOR  ',
      '08 KEY_2 listBrands OK 50 13',
      '08 KEY_2 listBrands UNAUTHORIZED  ',
      '08 KEY_1 listBalances OK  2',
      '09 KEY_1 listBrands OK 1 0',
    ],
  );
});

test('writes counts within ten seconds, and counts on during an outage', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const { store, journal } = openJournal(t);
  journal.count(key, 'listBrands', undefined, Date.parse(eight));
  t.mock.timers.tick(receiptsBounds.usageWriteMs);
  await until(20_000, () => store.usage.length === 1);
  store.isAway = true;
  for (let round = 0; round < 5; round += 1) {
    journal.count(key, 'listBrands', undefined, Date.parse(eight));
    t.mock.timers.tick(receiptsBounds.usageWriteMs);
  }
  await until(20_000, () => journal.logged().some((line) => line.includes('counts of usage cannot')));
  store.isAway = false;
  await until(20_000, () => journal.logged().some((line) => line.includes('can be written again')));
  await journal.close();
  assert.deepEqual(total(store.usage), { [`${eight} acme KEY_1 listBrands OK`]: 6 });
});

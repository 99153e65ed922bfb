import { randomUUID } from 'node:crypto';
import { OperatorError } from '@partner-network/common/errors';
import { toTime } from '@partner-network/common/times';
import type { ErrorCode } from '@partner-network/contract/errors';
import type { ListingOperation } from '@partner-network/contract/operations';
import { digestOfKey } from '@partner-network/service/auth';
import {
  AlreadyExists,
  type Author,
  type ImportKind,
  type Receipt,
  type Store,
  type UsageCount,
} from '@partner-network/store/port';
import { importValues } from '../ingest/import.ts';
import { demoAdminKey, demoBalances, demoBrands, demoGrants, demoKeys, demoPartners } from './data.ts';

/**
 * Fills an empty sandbox with the demo data, which is checked like any import. Resolves to false if
 * the sandbox has other data, which is left alone.
 */
export async function fillWithDemo(store: Store, by: Author): Promise<boolean> {
  if (store.environment !== 'sandbox') {
    throw new OperatorError('Demo data is for a sandbox only, because its keys are public.');
  }
  const partners = new Set((await store.listPartners()).map(({ id }) => id));
  if (partners.size > 0 && !partners.has(demoPartners[0].id)) return false;
  // Grants are written last: if they are missing, an earlier start was interrupted.
  const isFilled =
    (await store.listGrants({ partnerId: demoPartners[0].id, at: toTime(Date.now()) })).length > 0;
  const created_at = '2025-01-06T09:00:00.000Z';
  const storedAs = (text: string) => ({ name: 'demo', last_four: text.slice(-4), created_at });
  // A sandbox that an older version has filled lacks this key.
  if ((await store.findAdminKeyById(demoAdminKey.id)) === undefined) {
    const { text, ...key } = demoAdminKey;
    await ignoreExisting(store.createAdminKey({ ...key, ...storedAs(text) }, digestOfKey(text), by));
  }
  if (isFilled) return true;

  for (const { id, name } of demoPartners)
    await ignoreExisting(store.createPartner({ id, name, created_at }, by));
  for (const { text, ...key } of demoKeys) {
    await ignoreExisting(store.createKey({ ...key, ...storedAs(text) }, digestOfKey(text), by));
  }
  for (const [index, partner] of demoPartners.entries()) {
    await fill(store, by, 'brands', demoBrands(partner, index + 1), partner.id);
  }
  await fill(store, by, 'balances', demoBalances());
  await fill(store, by, 'grants', demoGrants());
  return true;
}

/** Another start, earlier or at the same time, may have created it. */
async function ignoreExisting(creation: Promise<void>): Promise<void> {
  await creation.catch((error) => {
    if (!(error instanceof AlreadyExists)) throw error;
  });
}

async function fill(
  store: Store,
  by: Author,
  kind: ImportKind,
  records: object[],
  partnerId?: string,
): Promise<void> {
  const audit = { ...by, target: partnerId ?? kind, source: 'demo data', startedMs: Date.now() };
  const { rejected } = await importValues(store, kind, records, partnerId, audit);
  if (rejected.length > 0) throw new Error(`The demo ${kind} break a rule: ${JSON.stringify(rejected[0])}`);
}

// The demo history: what partners would have sent in the last 30 days, by a formula of the hour.

const hourMs = 3_600_000;
const minuteMs = 60_000;
const dayHours = 24;
const mostHours = 30 * dayHours;

/** The answers that a key gets in a usual hour, and for balances the customers. */
type Stream = readonly [
  key: (typeof demoKeys)[number]['id'],
  operation: ListingOperation['id'],
  code: 'OK' | ErrorCode,
  perHour: number,
  customers?: readonly number[],
];

const streams: readonly Stream[] = [
  ['KEY_NORTHWIND', 'listBrands', 'OK', 240],
  ['KEY_NORTHWIND', 'listBrands', 'RATE_LIMITED', 3],
  ['KEY_NORTHWIND', 'listBalances', 'OK', 12, [1001, 1002, 1003, 1004, 1005]],
  ['KEY_NORTHWIND', 'listBalances', 'GRANT_EXPIRED', 1, [1006]],
  ['KEY_NORTHWIND', 'listBalances', 'GRANT_REVOKED', 0.4, [1007]],
  ['KEY_NORTHWIND_BRANDS', 'listBrands', 'OK', 30],
  ['KEY_NORTHWIND_EXPIRED', 'listBrands', 'API_KEY_EXPIRED', 0.3],
  ['KEY_BLUEBIRD', 'listBrands', 'OK', 120],
  ['KEY_BLUEBIRD', 'listBrands', 'VALUE_TOO_HIGH', 0.5],
  ['KEY_BLUEBIRD', 'listBalances', 'OK', 6, [1010, 1011]],
  ['KEY_JUNIPER', 'listBrands', 'OK', 45],
  ['KEY_JUNIPER', 'listBrands', 'INVALID_CURSOR', 0.4],
];

/** In the newest hour, a program of Northwind requests balances with the key that is for brands only. */
const incident: Stream = [
  'KEY_NORTHWIND_BRANDS',
  'listBalances',
  'INSUFFICIENT_SCOPES',
  140,
  [1001, 1002, 1003],
];

/**
 * Writes the hours since the last call, up to the current one. Real requests are counted on top, so only the
 * audit entry shows which hours are written. It comes first, so that nothing is ever counted twice: if this
 * start is killed, its hours may stay empty.
 */
export async function fillWithHistory(store: Store, by: Author, nowMs: number): Promise<void> {
  const [last] = await store.listAudit({ action: by.action, target: 'usage', limit: 1 });
  const end = Math.floor(nowMs / hourMs) + 1;
  const written = Date.parse(String(last?.details.until)) / hourMs || 0;
  const begin = Math.max(written, end - mostHours);
  if (begin >= end) return;
  await store.addAudit(by, 'usage', { source: 'demo data', until: toTime(end * hourMs) });
  const sent = countsOf(begin, end);
  await store.recordUsage(sent.map(({ usage }) => usage));
  // Only of the newest day: all days would have about 15,000 receipts.
  const newest = sent.filter(({ usage }) => usage.from >= toTime((end - dayHours) * hourMs));
  await store.recordReceipts(newest.flatMap((counts) => receiptsOf(counts, nowMs)));
  const used = newest.filter(({ usage }) => usage.code === 'OK').map(({ usage }) => usage.key_id);
  const usedAt = toTime(Math.floor(nowMs / minuteMs) * minuteMs);
  await store.recordKeyUses([...new Set(used)].map((keyId) => ({ keyId, usedAt })));
}

/** From 0 at night to 2 in the afternoon, half of it on weekends, and a little uneven. */
function rhythm(hour: number): number {
  const wave = 1 - Math.cos((((hour % 24) - 2) / 12) * Math.PI);
  // The first day of 1970 was a Thursday.
  const isWeekend = [2, 3].includes(Math.floor(hour / 24) % 7);
  return wave * (isWeekend ? 0.5 : 1) * (0.8 + ((hour * 7) % 5) / 10);
}

/** The counts of these hours, of which the last one has the incident. */
function countsOf(begin: number, end: number) {
  const hours = Array.from({ length: end - begin }, (_, index) => begin + index);
  const usual = hours.flatMap((hour) => streams.map((stream) => countOf(stream, hour, rhythm(hour))));
  return [...usual, countOf(incident, end - 1, 1)].filter(({ usage }) => usage.count > 0);
}

function countOf([key_id, operation, code, perHour, customers = []]: Stream, hour: number, times: number) {
  const { partner_id } = demoKeys.find(({ id }) => id === key_id)!;
  const count = Math.round(perHour * times);
  const counted = { from: toTime(hour * hourMs), partner_id, key_id, operation, code, count };
  // Of a partner that sends a twentieth of an hour's requests in its busiest second.
  const usage: UsageCount = code === 'OK' ? { ...counted, peak: Math.ceil(count / 20) } : counted;
  return { usage, operation, customers };
}

type Counted = ReturnType<typeof countOf>;

/** Receipts as the service leaves them, spread over the part of the hour that has passed. */
function receiptsOf({ usage, operation, customers }: Counted, nowMs: number): Receipt[] {
  const { from, partner_id, key_id, code, count } = usage;
  if (operation === 'listBrands' && code === 'OK') return [];
  const fromMs = Date.parse(from);
  const passedMs = Math.min(hourMs, nowMs - fromMs);
  return Array.from({ length: count }, (_, index) => {
    const atMs = fromMs + Math.floor((passedMs * index) / count);
    const customer = customers[index % customers.length];
    return {
      at: toTime(atMs),
      request_id: requestIdOf(atMs),
      operation,
      partner_id,
      key_id,
      ...(customer && { customer_id: `CUSTOMER_${customer}`, grant_id: `GRANT_${customer}` }),
      outcome: code === 'OK' ? 'GRANTED' : code,
    };
  });
}

/** As the service makes it: a UUID of version 7, which begins with the time. */
function requestIdOf(atMs: number): string {
  const time = atMs.toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`;
}

/** Reads and deletes receipts and counts of answers, in SQL that both engines understand. */
import { setTimeout as wait } from 'node:timers/promises';
import { receiptsBounds } from '@partner-network/common/bounds/service';
import { latestTimeMs, toTime } from '@partner-network/common/times';
import type {
  Author,
  Journal,
  JournalWrites,
  PartnerUsage,
  Prunable,
  Receipt,
  ReceiptCounts,
  ReceiptCountsQuery,
  ReceiptsQuery,
  Refusals,
  UsageCount,
  UsageQuery,
} from '../port.ts';
import { changeStatement } from './audit.ts';
import { type BoundStatement, createConditions, type Row, type Sql, withoutNulls } from './statement.ts';

const columns = 'at, request_id, operation, partner_id, key_id, customer_id, grant_id, outcome';

/**
 * `listed` is the engine's expression for the rows of the JSON list $1, each with a column `value`, and
 * `dayOf` for the beginning of the day of `at`. `audit` runs a statement on the database of the audit log,
 * which may be another file.
 */
export function createJournalReads(
  rows: Sql['rows'],
  { listed, dayOf }: Readonly<Record<'listed' | 'dayOf', string>>,
  audit: Sql['rows'],
): Omit<Journal, keyof JournalWrites> {
  return {
    listReceipts: async (query) => (await rows(...selectReceipts(query))).map(receiptOfRow),
    refusalTimes: async (refusals) => {
      const [first, last] = await Promise.all(['min', 'max'].map((end) => rows(...refusalAt(end, refusals))));
      return withoutNulls({ first: first![0]?.at ?? null, last: last![0]?.at ?? null });
    },
    countReceipts: async (query) => countsOfRows(await rows(...selectReceiptCounts(query))),
    listUsage: async (query) => (await rows(...selectUsage(query, dayOf))).map(countOfRow),
    usageOfHour: async (from) => (await rows(usageOfHour, from)).map(usageOfRow),
    lastUses: (keyIds) => readLastUses(rows, listed, keyIds),
    ...createPruning(rows, audit),
  };
}

function selectReceipts(query: ReceiptsQuery, conditions = createConditions()): BoundStatement {
  const { requestId, partnerId, keyId, customerId, operation, outcome, since, until, after, limit } = query;
  const { values, parameter, add, addEqual, addSpan, text } = conditions;
  const isGranted = outcome === 'GRANTED';
  const isOfBalances = operation === 'listBalances';
  // A request has one receipt, a customer few, a partner may have millions.
  const used = addEqual({
    request_id: requestId,
    customer_id: customerId,
    operation: isOfBalances ? undefined : operation,
    outcome: isGranted ? undefined : outcome,
    partner_id: partnerId,
  });
  // These indexes have few requests. Almost all others are granted lists of balances, and are found by time.
  const isOfIndex: Readonly<Record<string, string>> = {
    operation: `operation <> 'listBalances'`,
    outcome: `outcome <> 'GRANTED'`,
  };
  const isIndexed = isOfIndex[used ?? ''] ?? 'true';
  if (isGranted) add(outcome, (granted) => `outcome = ${granted}`);
  if (query.isRefused) add('GRANTED', (granted) => `outcome <> ${granted}`);
  if (isOfBalances) add(operation, (balances) => `operation = ${balances}`);
  add(keyId, (value) => `key_id = ${value}`);
  addSpan(since, until);
  add(after?.at, (at) => `(at, request_id) < (${at}, ${parameter(after!.request_id)})`);
  const selection = `
    select ${columns} from receipts where ${isIndexed} and ${text()}
    order by at desc, request_id desc limit ${parameter(limit)}`;
  return [selection, ...values];
}

/** Two statements, for `min` and `max`: for both at once, SQLite reads all rows between them. */
function refusalAt(end: string, { partner_id, key_id, outcome, operation, since }: Refusals): BoundStatement {
  const text = `
    select ${end}(at) as at from receipts where outcome <> 'GRANTED'
      and partner_id = $1 and key_id = $2 and outcome = $3 and operation = $4 and at >= $5`;
  return [text, partner_id, key_id, outcome, operation, since];
}

/**
 * Searches the newest receipts of one field, which an index finds, so that the time is limited. The other
 * fields are compared with what was found. A row without counts says that nothing fits.
 */
function selectReceiptCounts(query: ReceiptCountsQuery): BoundStatement {
  const { partnerId, keyId, customerId, outcome, since, until, limit, offset } = query;
  const conditions = createConditions();
  const { values, parameter, add, text } = conditions;
  const isRefused = outcome !== undefined && outcome !== 'GRANTED';
  const used = customerId !== undefined ? { customerId } : isRefused ? { outcome } : { partnerId };
  const [newest] = selectReceipts({ ...used, since, until, limit: receiptsBounds.counted }, conditions);
  add(partnerId, (value) => `partner_id = ${value}`);
  add(keyId, (value) => `key_id = ${value}`);
  add(outcome, (value) => `outcome = ${value}`);
  const selection = `
    with newest as (${newest}),
    counted as (
      select customer_id, partner_id, key_id,
        min(case when outcome = 'GRANTED' then at end) as first,
        max(case when outcome = 'GRANTED' then at end) as last,
        sum(case when outcome = 'GRANTED' then 1 else 0 end) as granted,
        sum(case when outcome = 'GRANTED' then 0 else 1 end) as refused
      from newest where operation = 'listBalances' and ${text()} group by customer_id, partner_id, key_id
    )
    select * from (select count(*) as searched, min(at) as cut_at from newest) as searched
      left join counted on true
    order by granted desc, customer_id, partner_id, key_id
    limit ${parameter(limit)} offset ${parameter(offset)}`;
  return [selection, ...values];
}

function countsOfRows(rows: readonly Row[]): ReceiptCounts {
  const isCut = Number(rows[0]?.searched) === receiptsBounds.counted;
  const found = rows.filter(({ partner_id }) => partner_id !== null);
  const counts = found.map(({ searched: _, cut_at: __, granted, refused, customer_id, ...row }) => ({
    ...withoutNulls(row),
    ...(customer_id !== '' && { customer_id }),
    granted: Number(granted),
    refused: Number(refused),
  }));
  return { counts, cutAt: isCut ? rows[0]!.cut_at : undefined } as unknown as ReceiptCounts;
}

/** Not by operation: the rows of an hour are in the order of partners, so they need no sort. */
const usageOfHour = `
  select partner_id, sum(count) as answers, sum(case when code = 'OK' then 0 else count end) as refused,
    sum(case when code = 'RATE_LIMITED' then count else 0 end) as limited,
    sum(case when code = 'PARTNER_DISABLED' then count else 0 end) as disabled,
    max(case when operation = 'listBrands' then peak end) as brands,
    max(case when operation = 'listBalances' then peak end) as balances
  from usage where at = $1 group by partner_id`;

function usageOfRow({ partner_id, ...counts }: Row): PartnerUsage {
  const numbers = Object.entries(counts).map(([name, count]) => [name, Number(count)]);
  return { partner_id, ...Object.fromEntries(numbers) } as PartnerUsage;
}

/** The last use of each key by key id. `listed` is as above. */
export async function readLastUses(
  rows: Sql['rows'],
  listed: string,
  keyIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const text = `select key_id, used_at from key_uses where key_id in (select value from ${listed})`;
  const found = await rows(text, JSON.stringify(keyIds));
  return new Map(found.map(({ key_id, used_at }) => [key_id as string, used_at as string]));
}

function receiptOfRow(row: Row): Receipt {
  const { customer_id, grant_id, ...rest } = row as unknown as Receipt;
  // The customer is a part of an index, so a missing customer is stored as ''. A missing grant is null.
  return { ...rest, ...(customer_id && { customer_id }), ...(grant_id && { grant_id }) };
}

const names = 'partner_id, key_id, operation, code';
const order = `at, ${names}`;
const numbers = 'count, peak, slowest_ms';

const lengthMs = { hour: 3_600_000, day: 86_400_000 };

function selectUsage(query: UsageQuery, dayOf: string): BoundStatement {
  const { partnerId, keyId, since, until, after, limit, by } = query;
  const { values, add, addSpan, parameter, text } = createConditions();
  add(partnerId, (value) => `partner_id = ${value}`);
  add(keyId, (value) => `key_id = ${value}`);
  addSpan(since && startOf(since, by), until && endOf(until, by));
  const selected = text();
  const last = after && [after.from, after.partner_id, after.key_id, after.operation, after.code];
  const isOlder = last === undefined ? 'true' : `(${order}) < (${last.map(parameter).join(', ')})`;
  const byDay = `(
    select ${dayOf} as at, ${names}, sum(count) as count, max(peak) as peak, max(slowest_ms) as slowest_ms
    from usage where ${selected} group by 1, ${names}
  ) as days where ${isOlder}`;
  const from = by === 'day' ? byDay : `usage where ${selected} and ${isOlder}`;
  const newestFirst = order.replaceAll(/\w+/g, '$& desc');
  const most = parameter(limit);
  const selection = `select ${order}, ${numbers} from ${from} order by ${newestFirst} limit ${most}`;
  return [selection, ...values];
}

/** The beginning of the hour or day of a time. */
export function startOf(time: string, unit: UsageQuery['by']): string {
  const ms = Date.parse(time);
  return toTime(ms - (((ms % lengthMs[unit]) + lengthMs[unit]) % lengthMs[unit]));
}

/** The end of the hour or day that contains a time. The start of an hour or day stays unchanged. */
function endOf(time: string, unit: UsageQuery['by']): string {
  const start = startOf(time, unit);
  return start === time ? time : toTime(Math.min(Date.parse(start) + lengthMs[unit], latestTimeMs));
}

function countOfRow({ at, count, ...row }: Row): UsageCount {
  return { from: at, ...withoutNulls({ ...row, count: Number(count) }) } as unknown as UsageCount;
}

/** Deletes old rows, the oldest first. `audit` runs a statement on the database of the audit log. */
export function createPruning(rows: Sql['rows'], audit: Sql['rows']): Pick<Journal, 'countOld' | 'prune'> {
  const limitOf = (table: Prunable, time: string) => (table === 'usage' ? startOf(time, 'hour') : time);

  async function countOld(table: Prunable, olderThan: string): Promise<number> {
    const text = `select count(*) as found from ${table} where at < $1`;
    const [counted] = await rows(text, limitOf(table, olderThan));
    return Number(counted?.found ?? 0);
  }

  /**
   * Deletes a few thousand rows, by time and not by row: a distributed database can do so at once. `isLast`
   * if no older row is left. A batch that deletes nothing may not be the last: another command may prune.
   */
  async function pruneBatch(table: Prunable, before: string) {
    const selection = `select at from ${table} where at < $1 order by at limit 1 offset $2`;
    const [last] = await rows(selection, before, receiptsBounds.pruned - 1);
    const [condition, time] = last === undefined ? ['at < $1', before] : ['at <= $1', last.at as string];
    const removed = await rows(`delete from ${table} where ${condition} returning 1 as gone`, time);
    return { removed: removed.length, isLast: last === undefined };
  }

  /**
   * The audit entry comes first, because rows are deleted in many transactions, on the embedded database in
   * another file: if the command is killed, no deletion is without an entry.
   */
  async function prune(table: Prunable, olderThan: string, by: Author): Promise<number> {
    const found = await countOld(table, olderThan);
    if (found === 0) return 0;
    // Fails without the privilege to delete, before an entry says that rows were deleted.
    await rows(`delete from ${table} where false returning 1 as gone`);
    const before = limitOf(table, olderThan);
    await audit(...changeStatement(by, table, { before, [table]: found }));
    let total = 0;
    for (;;) {
      const { removed, isLast } = await pruneBatch(table, before);
      total += removed;
      if (isLast) return total;
      // `serve` can write its own rows between two batches.
      await wait(receiptsBounds.pruneRestMs);
    }
  }

  return { countOld, prune };
}

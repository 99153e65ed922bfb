/** Reads and deletes counts of answers, in SQL that both engines understand. */
import { latestTimeMs, toTime } from '@partner-network/common/times';
import type { Usage, UsageCount, UsageQuery } from '../port.ts';
import { createPruning } from './prune.ts';
import { createConditions, type Row, type Sql } from './statement.ts';

const names = 'partner_id, key_id, operation, code';
const order = `at, ${names}`;

const lengthMs = { hour: 3_600_000, day: 86_400_000 };

/** `dayOf` is the engine's expression for the beginning of the day of `at`. `audit` is as for receipts. */
export function createUsage(rows: Sql['rows'], dayOf: string, audit: Sql['rows']): Usage {
  const { count, prune } = createPruning(rows, audit, 'usage');
  const byDay = (condition: string) => `(
    select ${dayOf} as at, ${names}, sum(count) as count from usage where ${condition} group by 1, ${names}
  ) as days`;

  return {
    listUsage: async (query) => {
      const { partnerId, keyId, since, until, after, limit, by } = query;
      const { values, parameter, add, addSpan, text } = createConditions();
      add(partnerId, (value) => `partner_id = ${value}`);
      add(keyId, (value) => `key_id = ${value}`);
      addSpan(since && startOf(since, by), until && endOf(until, by));
      const selected = text();
      const last = after && [after.from, after.partner_id, after.key_id, after.operation, after.code];
      const isOlder = last === undefined ? 'true' : `(${order}) < (${last.map(parameter).join(', ')})`;
      const [from, where] =
        by === 'day' ? [byDay(selected), isOlder] : ['usage', `${selected} and ${isOlder}`];
      const newestFirst = order.replaceAll(/\w+/g, '$& desc');
      const found = await rows(
        `select ${order}, count from ${from} where ${where}
        order by ${newestFirst} limit ${parameter(limit)}`,
        ...values,
      );
      return found.map(countOfRow);
    },
    countUsage: (olderThan) => count(startOf(olderThan, 'hour')),
    pruneUsage: (olderThan, author) => prune(startOf(olderThan, 'hour'), author),
  };
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
  return { from: at, ...row, count: Number(count) } as unknown as UsageCount;
}

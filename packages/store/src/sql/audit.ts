/** Reads and writes the audit log, in SQL that both engines understand. */
import { toTime } from '@partner-network/common/times';
import type {
  AuditEntry,
  AuditLog,
  Author,
  ImportAudit,
  ImportResult,
  MissingNumbers,
  NumberedEntry,
} from '../port.ts';
import type { BoundStatement, Differences, Row, Sql } from './statement.ts';
import { createConditions, withoutNulls } from './statement.ts';

/** The entry of a change. Runs in the transaction of the change, as its last statement. */
export function changeStatement(
  { actor, action, reason, details: added }: Author,
  target: string,
  details: AuditEntry['details'],
): BoundStatement {
  const text = 'insert into audit_log (at, actor, action, target, details) values ($1, $2, $3, $4, $5)';
  return [text, toTime(Date.now()), actor, action, target, JSON.stringify({ ...details, ...added, reason })];
}

/** An entry to try and roll back. */
export const triedStatement = () =>
  changeStatement({ actor: 'partner-network', action: 'write probe' }, 'audit_log', {});

/** Runs a statement that returns the row that it changed, and adds the entry. False if it changed none. */
export function changeRow(
  { transaction }: Sql,
  statement: BoundStatement,
  entryOf: (changed: Row) => BoundStatement,
): Promise<boolean> {
  return transaction(function* () {
    const [changed] = yield statement;
    if (changed !== undefined) yield entryOf(changed);
    return changed !== undefined;
  });
}

/** The statement for an import, with its counts. Undefined if it changes nothing. */
export function importStatement(
  audit: ImportAudit | undefined,
  { rejected: refused, ...counts }: ImportResult,
): BoundStatement | undefined {
  if (audit === undefined || counts.written + counts.deleted === 0) return undefined;
  const { target, source, startedMs, rejected = 0 } = audit;
  const times = { duration_ms: Date.now() - startedMs };
  const details = { source, ...counts, rejected: rejected + refused.length, ...times };
  return changeStatement(audit, target, details);
}

const columns = 'seq, at, actor, action, target, details, db_user, client_address';

/** Numbers before the start that may still be missing: a transaction may commit after a later one. */
const numbersChecked = 100_000;

export function createAuditLog({ rows }: Sql, { transactions, auditInRanges }: Differences): AuditLog {
  return {
    addAudit: async (by, target, details) => {
      await rows(...changeStatement(by, target, details));
    },
    listAudit: async ({ target, partnerId, customerId, actor, action, since, until, after, limit }) => {
      const { values, parameter, add, addEqual, addSpan, text } = createConditions();
      const related = { "details ->> 'customer_id'": customerId, "details ->> 'partner_id'": partnerId };
      addEqual({ target, ...related, actor, action });
      addSpan(since, until);
      add(after?.at, (at) => `(at, seq) < (${at}, ${parameter(after!.seq)})`);
      const found = await rows(
        `select ${columns} from audit_log where ${text()}
        order by at desc, seq desc limit ${parameter(limit)}`,
        ...values,
      );
      return found.map(entryOfRow);
    },

    auditOf: async (action, targets) => {
      const marks = targets.map((_, index) => `$${index + 2}`);
      const text = `select ${columns} from audit_log where action = $1 and target in (${marks.join()})
        order by at desc, seq desc`;
      return targets.length === 0 ? [] : (await rows(text, action, ...targets)).map(entryOfRow);
    },

    auditPosition: async (since) => {
      const [end] = await rows('select coalesce(max(seq), 0) as seq from audit_log');
      const [first] = since === undefined ? [] : await rows(firstSince, since);
      const last = Number(first?.seq ?? Number(end!.seq) + 1) - 1;
      const from = Math.max(0, last - numbersChecked);
      const present = await rows(numbersIn, from, last);
      const numbers = present.map(({ seq }) => Number(seq));
      return { last, missing: missingBetween(from, last + 1, numbers) };
    },

    followAudit: async ({ last, missing }, limit) => {
      // First, so that a transaction that has ended by then is seen by the next statement.
      const [{ oldest, next } = {}] = await rows(transactions);
      // A list, and not a condition for each range: a role can leave any number of them.
      const ranges = missing.map(({ from, to }) => [from, to]);
      const found = await rows(
        `select ${columns} from (
          select * from (select ${columns} from audit_log where seq > $1 order by seq limit $2) as later
          union all
          select * from (${auditInRanges(columns)}) as earlier
        ) as found order by seq limit $2`,
        last,
        limit,
        JSON.stringify(ranges),
      );
      const entries = found.map(entryOfRow);
      const numbers = entries.map(({ seq }) => seq);
      // A full page says nothing about the numbers after it.
      const readTo = entries.length < limit ? Number.POSITIVE_INFINITY : numbers.at(-1)!;
      const isOver = (until: string) => until !== '' && BigInt(oldest as string) >= BigInt(until);
      const waited = missing.flatMap((range) => {
        const { from, to, until } = range;
        if (from > readTo) return range;
        const rest = to > readTo ? [{ from: readTo + 1, to, until }] : [];
        // Without an id, every transaction that may bring the numbers is before `next`.
        const left = missingBetween(from - 1, Math.min(to, readTo) + 1, numbers, until || String(next));
        return [...(isOver(until) ? [] : left), ...rest];
      });
      const end = Math.max(last, ...numbers);
      return {
        entries,
        position: { last: end, missing: [...waited, ...missingBetween(last, end, numbers)] },
      };
    },
  };
}

const numbersIn = 'select seq from audit_log where seq > $1 and seq <= $2 order by seq';
const firstSince = 'select min(seq) as seq from audit_log where at >= $1';

/** The ranges between these two that the numbers, which are sorted, do not have. */
function missingBetween(from: number, to: number, numbers: readonly number[], until = ''): MissingNumbers[] {
  const inside = numbers.filter((number) => number > from && number < to);
  return [...inside, to].flatMap((number, index) => {
    const range = { from: (inside[index - 1] ?? from) + 1, to: number - 1, until };
    return range.from > range.to ? [] : [range];
  });
}

/** Postgres returns a bigint as text and JSON as a value, SQLite the other way round. */
function entryOfRow({ seq, details, db_user, client_address, ...row }: Row): NumberedEntry {
  const value = typeof details === 'string' ? JSON.parse(details) : details;
  const added = withoutNulls({ db_user, client_address });
  return { seq: Number(seq), ...row, details: value, ...added } as unknown as NumberedEntry;
}

/** Reads and writes the audit log, in SQL that both engines understand. */
import { toTime } from '../../lib/times.ts';
import type { AuditEntry, AuditLog, Author, ImportAudit, ImportResult, NumberedEntry } from '../port.ts';
import { type BoundStatement, createConditions, type Row, type Sql } from './statement.ts';

/** Runs in the transaction of the change, as its last statement. */
export function auditStatement({ at, actor, action, target, details }: AuditEntry): BoundStatement {
  const text = 'insert into audit_log (at, actor, action, target, details) values ($1, $2, $3, $4, $5)';
  return [text, at, actor, action, target, JSON.stringify(details)];
}

/** The statement for a change that was made just now. */
export function changeStatement(
  { actor, action, details: added }: Author,
  target: string,
  details: AuditEntry['details'],
): BoundStatement {
  return auditStatement({
    ...{ at: toTime(Date.now()), actor, action, target },
    details: { ...details, ...added },
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

/** Each of these columns has an index with the time. The first given one is used: the most selective. */
const filters = ['target', 'actor', 'action'] as const;

export function createAuditLog({ rows }: Pick<Sql, 'rows'>): AuditLog {
  return {
    addAudit: async (entry) => {
      await rows(...auditStatement(entry));
    },
    listAudit: async ({ since, until, after, limit, ...query }) => {
      const { values, parameter, add, text } = createConditions();
      const used = filters.find((column) => query[column] !== undefined);
      for (const column of filters) {
        // The expression keeps the planner from using the index of another column.
        const side = column === used ? column : `${column} || ''`;
        add(query[column], (value) => `${side} = ${value}`);
      }
      add(since, (value) => `at >= ${value}`);
      add(until, (value) => `at < ${value}`);
      add(after?.at, (at) => `(at, seq) < (${at}, ${parameter(after!.seq)})`);
      const found = await rows(
        `select seq, at, actor, action, target, details from audit_log where ${text()}
        order by at desc, seq desc limit ${parameter(limit)}`,
        ...values,
      );
      return found.map(entryOfRow);
    },
  };
}

/** Postgres returns a bigint as text and JSON as a value, SQLite the other way round. */
function entryOfRow({ seq, details, ...row }: Row): NumberedEntry {
  const value = typeof details === 'string' ? JSON.parse(details) : details;
  return { seq: Number(seq), ...row, details: value } as NumberedEntry;
}

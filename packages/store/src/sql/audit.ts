/** Reads and writes the audit log, in SQL that both engines understand. */
import { toTime } from '@partner-network/common/times';
import type { AuditEntry, AuditLog, Author, ImportAudit, ImportResult, NumberedEntry } from '../port.ts';
import { type BoundStatement, createConditions, type Row, type Sql } from './statement.ts';

/** The entry of a change. Runs in the transaction of the change, as its last statement. */
export function changeStatement(
  { actor, action, details: added }: Author,
  target: string,
  details: AuditEntry['details'],
): BoundStatement {
  const text = 'insert into audit_log (at, actor, action, target, details) values ($1, $2, $3, $4, $5)';
  return [text, toTime(Date.now()), actor, action, target, JSON.stringify({ ...details, ...added })];
}

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

export function createAuditLog({ rows }: Pick<Sql, 'rows'>): AuditLog {
  return {
    addAudit: async (by, target, details) => {
      await rows(...changeStatement(by, target, details));
    },
    listAudit: async ({ target, actor, action, since, until, after, limit }) => {
      const { values, parameter, add, addEqual, addSpan, text } = createConditions();
      addEqual({ target, actor, action });
      addSpan(since, until);
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

/** What the files of this engine share: its error codes, its transactions, and plain statements. */
import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import { AlreadyExists, StoreUnavailable } from '../port.ts';
import type { Sql } from '../sql/accounts.ts';

/** Primary result codes of an engine that cannot answer now: busy, locked, I/O error, full, cannot open. */
const unavailable = new Set([5, 6, 10, 13, 14]);
/** SQLITE_CONSTRAINT_PRIMARYKEY and SQLITE_CONSTRAINT_UNIQUE. */
const conflict = new Set([1555, 2067]);

/** The error in the port's terms, where it has one for it. */
export function translated(error: unknown): unknown {
  const code = (error as { errcode?: number }).errcode ?? 0;
  if (conflict.has(code)) return new AlreadyExists('That id is taken.', { cause: error });
  if (!unavailable.has(code & 0xff)) return error;
  const reason = (error as Error).message;
  return new StoreUnavailable(`The embedded database cannot answer now (${reason}).`, { cause: error });
}

/** All of the work or nothing of it. Immediate takes the one write lock at once, deferred when it must. */
export function transaction<Result>(
  db: DatabaseSync,
  lock: 'immediate' | 'deferred',
  work: () => Result,
): Result {
  try {
    db.exec(`begin ${lock}`);
    const result = work();
    db.exec('commit');
    return result;
  } catch (error) {
    // Some failures, such as a full disk, have rolled back already.
    if (db.isTransaction) db.exec('rollback');
    throw translated(error);
  }
}

/** Statements are prepared when they are used: an operator's command runs one or two of them. */
export function plainSql(db: DatabaseSync): Sql {
  return {
    rows: async (text, ...values) => {
      try {
        return db.prepare(text).all(numbered(values));
      } catch (error) {
        throw translated(error);
      }
    },
    write: async (...statements) =>
      transaction(db, 'immediate', () => {
        for (const [text, ...values] of statements) db.prepare(text).run(numbered(values));
      }),
  };
}

/** The parameters $1, $2, … of a statement. */
export function numbered(values: readonly SQLInputValue[]): Record<string, SQLInputValue> {
  return Object.fromEntries(values.map((value, index) => [`$${index + 1}`, value]));
}

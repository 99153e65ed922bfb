/** SQLite error codes, transactions and plain statements. */
import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import { OperatorError } from '@partner-network/common/errors';
import { AlreadyExists, StoreLocked, StoreUnavailable } from '../port.ts';
import type { BoundStatement, Sql } from '../sql/statement.ts';

/** Primary result codes for "cannot answer now": busy, locked, I/O error, full, cannot open. */
const unavailable = [5, 6, 10, 13, 14];
/** SQLITE_CONSTRAINT_PRIMARYKEY and SQLITE_CONSTRAINT_UNIQUE. */
const conflict = new Set([1555, 2067]);
/** SQLITE_CONSTRAINT_TRIGGER, and what the triggers say that run before the primary key is checked. */
const isReplacing = (code: number, error: unknown) => code === 1811 && /never replaced/.test(String(error));
/** SQLITE_READONLY. */
const readOnly = 8;

/** SQLITE_IOERR_GETTEMPPATH. */
const withoutTemporaryFolder = 6410;

/** The result code of an error of SQLite, 0 of other errors. Its lowest byte is the primary code. */
export const codeOf = (error: unknown) => (error as { errcode?: number }).errcode ?? 0;
export const hasCode = (error: unknown, ...primary: number[]) => primary.includes(codeOf(error) & 0xff);
/** SQLITE_BUSY or SQLITE_LOCKED. */
export const isLocked = (error: unknown) => hasCode(error, 5, 6);

/** Turns an error of SQLite into one of the port, and returns other errors unchanged. */
export function translated(error: unknown): unknown {
  const code = codeOf(error);
  if (conflict.has(code) || isReplacing(code, error))
    return new AlreadyExists('This id already exists.', { cause: error });
  if (hasCode(error, readOnly)) {
    const disk = 'its disk is mounted read-only or can hold no more files';
    const why = `this user may not write to it, or ${disk}`;
    return new OperatorError(`The embedded database can only be read: ${why}.`, { cause: error });
  }
  if (code === withoutTemporaryFolder) {
    const remedy = 'Set SQLITE_TMPDIR to a folder that this user can write';
    return new OperatorError(`SQLite has no folder for temporary files. ${remedy}.`, { cause: error });
  }
  if (!hasCode(error, ...unavailable)) return error;
  const reason = isLocked(error) ? 'another command, such as an import, locks it' : (error as Error).message;
  const Kind = isLocked(error) ? StoreLocked : StoreUnavailable;
  return new Kind(`The embedded database cannot answer now (${reason}).`, { cause: error });
}

/** Connections with an open transaction that only reads. */
const reading = new Set<DatabaseSync>();

/**
 * Begins a transaction for the reads of this turn of the event loop, unless one is open. They see one
 * snapshot, newer than the requests that this turn found. A statement on its own would lock and unlock the
 * log, which takes 4 µs.
 */
export function beginReads(db: DatabaseSync): void {
  if (db.isTransaction) return;
  db.exec('begin');
  reading.add(db);
  setImmediate(endReads);
}

/** Ends the transactions of `beginReads`. A failure may have ended one. */
export function endReads(): void {
  for (const db of reading) if (db.isOpen && db.isTransaction) db.exec('commit');
  reading.clear();
}

/**
 * Translates an error and rolls an open transaction back. Reads end first, also of other connections: what
 * this process changes, it sees at once.
 */
export function attempt<Result>(db: DatabaseSync, work: () => Result): Result {
  endReads();
  try {
    return work();
  } catch (error) {
    // Some failures, such as a full disk, have rolled back already.
    if (db.isTransaction) db.exec('rollback');
    throw translated(error);
  }
}

/** Immediate takes the write lock at the start, deferred at the first write. */
export function transaction<Result>(
  db: DatabaseSync,
  lock: 'immediate' | 'deferred',
  work: () => Result,
  end: 'commit' | 'rollback' = 'commit',
): Result {
  return attempt(db, () => {
    db.exec(`begin ${lock}`);
    const result = work();
    db.exec(end);
    return result;
  });
}

/**
 * Prepares each statement when it runs: an operator's command runs only a few. `before` runs before each
 * statement or transaction, and throws if the database cannot be used.
 */
export function createSql(db: DatabaseSync, before: () => void = () => {}): Sql {
  const run = ([text, ...values]: BoundStatement) => db.prepare(text).all(numbered(values));
  return {
    rows: async (...statement) => {
      before();
      return attempt(db, () => run(statement));
    },
    transaction: async (steps, mode = 'keep') => {
      before();
      const work = () => {
        const running = steps();
        let step = running.next();
        while (!step.done) step = running.next(run(step.value));
        return step.value;
      };
      return transaction(db, 'immediate', work, mode === 'keep' ? 'commit' : 'rollback');
    },
  };
}

/** Binds values to the parameters $1, $2, … */
export function numbered(values: readonly SQLInputValue[]): Record<string, SQLInputValue> {
  return Object.fromEntries(values.map((value, index) => [`$${index + 1}`, value]));
}

/** What the files of this engine share: its error codes and its transactions. */
import type { DatabaseSync } from 'node:sqlite';
import { AlreadyExists, StoreUnavailable } from '../port.ts';

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

import type { DatabaseSync } from 'node:sqlite';
import type { ImportBegin, ImportKind, ImportResult, ImportWrite, Missing } from '../../port.ts';
import { importStatement } from '../../sql/audit.ts';
import { attempt, numbered, transaction } from '../engine.ts';
import { createGrantWrites } from './grants.ts';
import type { Segment, Tally } from './kind-writes.ts';
import { createRecordWrites } from './records.ts';

/** Also used for sorting: with SQLite's default of 2 MB, a million rows are sorted in a thousand pieces. */
const cacheKibibytes = 16 * 1024;

/**
 * The writes of one import run. Its states:
 * - direct: a fast import whose rows were all sorted so far. Rows go straight into the table, in an open
 *   transaction, so that each is written once. Goes to staging at the first rows that cannot be placed.
 * - staging: any other import. Rows go into a temporary table of this connection. Without direct rows before
 *   them no transaction stays open, so a slow import does not block other writes, such as a revocation.
 * - `write` moves the staged rows into the table and commits (keep) or rolls back (try). The run goes on.
 * - A failure rolls back. `end` rolls back and drops the temporary table.
 */
export function createImportWrites(
  db: DatabaseSync,
  kind: ImportKind,
  { pace = 'slow', deletesMissing = false }: ImportBegin,
  startedAt: string,
) {
  const tally: Tally = { written: 0, stale: 0, deleted: 0, missing: 0 };
  const writes =
    kind === 'grants' ? createGrantWrites(db, tally) : createRecordWrites(db, kind, startedAt, tally);
  db.exec(`pragma cache_size = -${cacheKibibytes}`);
  transaction(db, 'deferred', () => db.exec(`create temp table staged (${writes.columns.join(', ')})`));
  let isDirect = pace === 'fast' && !deletesMissing;
  /** Rows written directly, and rows in the temporary table. */
  let placed = 0;
  let staged = 0;

  function begin(): void {
    if (!db.isTransaction) db.exec('begin immediate');
  }

  function place(segment: Segment): boolean {
    if (!segment.isSorted) return false;
    begin();
    if (writes.place(segment)) return true;
    if (placed === 0) db.exec('rollback');
    return false;
  }

  return {
    stage: (segment: Segment): void =>
      attempt(db, () => {
        isDirect &&= place(segment);
        if (isDirect) placed += segment.rows;
        else {
          if (db.isTransaction) writes.stage(segment);
          else transaction(db, 'deferred', () => writes.stage(segment));
          staged += segment.rows;
        }
      }),
    countMissing: (): Missing => attempt(db, writes.countMissing),
    write: ({ mode, skipsRejected = false, audit }: ImportWrite): ImportResult =>
      attempt(db, () => {
        begin();
        if (deletesMissing) writes.deleteMissing();
        const rejected = staged > 0 ? writes.move() : [];
        const { written, stale, deleted, missing } = tally;
        const unchanged = placed + staged - written - stale - deleted - rejected.length;
        const isKept = mode === 'keep' && (rejected.length === 0 || skipsRejected);
        const result = { written, unchanged, stale, deleted: deleted + missing, rejected };
        const [entry, ...values] = importStatement(audit, result) ?? [];
        if (isKept && entry !== undefined) db.prepare(entry).run(numbered(values));
        if (isKept) writes.clear();
        db.exec(isKept ? 'commit' : 'rollback');
        // Rows that were staged outside of the transaction are still there after a rollback.
        if (isKept || placed > 0) staged = 0;
        placed = 0;
        Object.assign(tally, { written: 0, stale: 0, deleted: 0, missing: 0 });
        return result;
      }),
    end: (): void => {
      try {
        if (db.isTransaction) db.exec('rollback');
        db.exec('drop table staged');
      } catch {
        // Fails on a full disk. The table is gone when the connection closes.
      }
    },
  };
}

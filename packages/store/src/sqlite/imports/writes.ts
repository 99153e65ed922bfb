import type { DatabaseSync } from 'node:sqlite';
import {
  type ImportBegin,
  type ImportKind,
  type ImportResult,
  type ImportWrite,
  type Missing,
  StartOver,
  StoreUnavailable,
} from '../../port.ts';
import { importStatement } from '../../sql/audit.ts';
import { undoFileOf } from '../../sql/undo.ts';
import { attempt, numbered, transaction } from '../engine.ts';
import { createGrantWrites } from './grants.ts';
import type { Segment, Tally } from './kind-writes.ts';
import { createRecordWrites } from './records.ts';
import type { Signs } from './signs.ts';

/** Also used for sorting: with SQLite's default of 2 MB, a million rows are sorted in a thousand pieces. */
const cacheKibibytes = 16 * 1024;

/** Without the function, which cannot be sent to a thread. */
export type WriteRequest = Omit<ImportWrite, 'onRejected'> & { readonly holds?: boolean };

/**
 * The writes of one import run. Its states:
 * - direct: a fast import whose rows were all sorted so far. Rows go straight into the table, in an open
 *   transaction, so that each is written once. Goes to staging at the first rows that cannot be placed. If
 *   these are not sorted, one may have the id of a placed row: then the import starts over.
 * - staging: any other import. Rows go into a temporary table of this connection. Without direct rows before
 *   them no transaction stays open, so a slow import does not block other writes, such as a revocation.
 * - `write` moves the staged rows into the table and commits (keep) or rolls back (try). The run goes on.
 * - A failure rolls back. `end` rolls back and drops the temporary table.
 */
export function createImportWrites(
  db: DatabaseSync,
  kind: ImportKind,
  { pace = 'slow', deletesMissing = false, overwrites = false, undoFile }: ImportBegin,
  startedAt: string,
  signs: Signs,
  /** Begins a transaction that writes. Throws if another command locks the database. */
  beginWriting: () => void,
) {
  const tally: Tally = { written: 0, stale: 0, deleted: 0, missing: 0 };
  const undo = undoFileOf(undoFile);
  const writes =
    kind === 'grants'
      ? createGrantWrites(db, tally)
      : createRecordWrites({ db, kind, overwrites, undo }, startedAt, tally);
  db.exec(`pragma cache_size = -${cacheKibibytes}`);
  const creates = writes.tables.map((table) => `create temp table ${table}`);
  transaction(db, 'deferred', () => db.exec(creates.join('; ')));
  let isDirect = pace === 'fast' && !deletesMissing && !overwrites && undo === undefined;
  /** Rows written directly, and rows in the temporary table. */
  let placed = 0;
  let staged = 0;

  function place(segment: Segment): boolean {
    if (!segment.isSorted) return false;
    if (!db.isTransaction) beginWriting();
    if (writes.place(segment)) return true;
    if (placed === 0) db.exec('rollback');
    return false;
  }

  function commit(): void {
    writes.clear();
    undo?.sync();
    if (!signs.beginCommit()) throw new StoreUnavailable('The import was stopped before its commit.');
    db.exec('commit');
  }

  return {
    stage: (segment: Segment): void =>
      attempt(db, () => {
        isDirect &&= place(segment);
        if (isDirect) placed += segment.rows;
        else if (placed > 0 && !segment.isSorted) throw new StartOver();
        else {
          if (db.isTransaction) writes.stage(segment);
          else transaction(db, 'deferred', () => writes.stage(segment));
          staged += segment.rows;
        }
      }),
    countMissing: (): Missing => attempt(db, writes.countMissing),
    /** Commits or rolls back. With `holds`, it does not commit if lines are rejected: `commit` follows. */
    write: ({ mode, skipsRejected = false, audit, holds = false }: WriteRequest): ImportResult =>
      attempt(db, () => {
        if (!db.isTransaction) beginWriting();
        if (deletesMissing) writes.deleteMissing();
        const rejected = (staged > 0 ? writes.move() : []).toSorted((one, two) => one.line - two.line);
        const { written, stale, deleted, missing } = tally;
        const unchanged = placed + staged - written - stale - deleted - rejected.length;
        const isKept = mode === 'keep' && (rejected.length === 0 || skipsRejected);
        const result = { written, unchanged, stale, deleted: deleted + missing, rejected };
        const [entry, ...values] = (isKept && importStatement(audit, result)) || [];
        if (entry !== undefined) db.prepare(entry).run(numbered(values));
        if (isKept && !(holds && rejected.length > 0)) commit();
        if (!isKept) db.exec('rollback');
        // Rows that were staged outside of the transaction are still there after a rollback.
        if (isKept || placed > 0) staged = 0;
        placed = 0;
        Object.assign(tally, { written: 0, stale: 0, deleted: 0, missing: 0 });
        return result;
      }),
    commit: (): void => attempt(db, commit),
    end: (): void => dropTables(db, writes.tables),
  };
}

function dropTables(db: DatabaseSync, tables: readonly string[]): void {
  try {
    if (db.isTransaction) db.exec('rollback');
    for (const table of tables) db.exec(`drop table ${table.split(' ')[0]}`);
  } catch {
    // Fails on a full disk. The tables are gone when the connection closes.
  }
}

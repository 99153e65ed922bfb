import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import {
  commits,
  type ImportBegin,
  type ImportKind,
  type ImportResult,
  type ImportWrite,
  type Missing,
} from '../../port.ts';
import { importStatement } from '../../sql/audit.ts';
import { undoFileOf } from '../../sql/exports.ts';
import { importColumns, nothing, resultOf } from '../../sql/imports.ts';
import { attempt, numbered, transaction } from '../engine.ts';
import { createGrantWrites } from './grants.ts';
import { type KindWrites, type Rows, type Staged, stagedColumns } from './kind-writes.ts';
import { createRecordWrites } from './records.ts';

/** Also used for sorting: with SQLite's default of 2 MB, a million rows are sorted in a thousand pieces. */
const cacheKibibytes = 16 * 1024;

/** Without the functions, which cannot be sent to a thread. */
export type WriteRequest = Omit<ImportWrite, 'onRejected' | 'onCommit'>;

/**
 * The writes of one import run. Its states:
 *
 *     staging     rows go into a temporary table. No transaction stays open, so a slow import does not block
 *                 other writes, such as a revocation
 *     first load  rows go straight into the table, which `begin` found empty, so that each is written once.
 *                 The transaction stays open
 *     merged      the staged rows are in the table. The transaction is open
 *
 *     staging     --begin: a file, and the table is empty--> first load
 *     first load  --rows that delete, or are not in the order of the table--> staging: rows that are in the
 *                   table move to the temporary one, and the transaction then stays open
 *     staging, first load  --write--> merged, or staging after a trial or a rejected line
 *     merged      --commit--> staging, without rows
 *     any         --a failure or end--> rolled back
 *
 * Leaving a first load is the only change of mind. Nobody knows before the last row whether all are in order,
 * and so whether an id repeats: of its lines the newest counts, with its own `created_at` and the same counts
 * as in any other import. Staging each first load instead would write all its rows twice.
 */
export class ImportWrites {
  readonly #db: DatabaseSync;
  readonly #kind: ImportKind;
  readonly #options: ImportBegin;
  readonly #checksRows: boolean;
  readonly #undo: ReturnType<typeof undoFileOf>;
  readonly #merge: KindWrites;
  readonly #tables: readonly string[];
  readonly #stageRows: Insert;
  /** Only during a first load. */
  #placeRows: Insert | undefined;
  /** Rows that a first load has written, and rows in the temporary table. */
  #placed = 0;
  #count = 0;
  #staged: Staged = { isSorted: true, hasDeletions: false };

  /** Without `checksRows`, the connection is for this import only. */
  constructor(
    db: DatabaseSync,
    kind: ImportKind,
    options: ImportBegin,
    startedAt: string,
    checksRows = true,
  ) {
    const { overwrites = false, undoFile } = options;
    const undo = undoFileOf(undoFile);
    this.#db = db;
    this.#kind = kind;
    this.#options = options;
    this.#checksRows = checksRows;
    this.#undo = undo;
    this.#merge =
      kind === 'grants'
        ? createGrantWrites(db)
        : createRecordWrites({ db, kind, overwrites, undo }, startedAt);
    db.exec(`pragma cache_size = -${cacheKibibytes}`);
    if (!checksRows) db.exec('pragma ignore_check_constraints = on');
    const columns = stagedColumns(kind);
    const staged = `staged (line integer primary key, ${columns.slice(1).join(', ')})`;
    this.#tables = [staged, ...this.#merge.tables];
    const creates = this.#tables.map((table) => `create temp table ${table}`);
    transaction(db, 'deferred', () => db.exec(creates.join('; ')));
    this.#stageRows = createInsert(db, 'staged', columns);
  }

  /** Decides whether this is a first load. */
  begin(): void {
    const db = this.#db;
    const kind = this.#kind;
    const { isEmpty } = this.#merge;
    const { pace, deletesMissing, overwrites } = this.#options;
    const isReplacing = deletesMissing || overwrites || this.#undo !== undefined;
    if (pace !== 'fast' || isReplacing || !isEmpty()) return;
    attempt(db, () => {
      db.exec('begin immediate');
      if (isEmpty())
        this.#placeRows = createInsert(db, kind, importColumns[kind].all, stagedColumns(kind).length);
      else db.exec('rollback');
    });
  }

  stage({ values, count, ...of }: Rows): void {
    const db = this.#db;
    this.#staged = of;
    attempt(db, () => {
      if (this.#placeRows && (!of.isSorted || of.hasDeletions)) this.#leaveFirstLoad();
      const place = this.#placeRows;
      if (place) {
        // A failure rolls the transaction back. Rows that are under way must not be written without it.
        this.#placeRows = undefined;
        place(values);
        this.#placeRows = place;
        this.#placed += count;
        return;
      }
      if (db.isTransaction) this.#stageRows(values);
      else transaction(db, 'deferred', () => this.#stageRows(values));
      this.#count += count;
    });
  }

  /** Moves the rows of a first load to the temporary table. Their ids differ, and they replace nothing. */
  #leaveFirstLoad(): void {
    const kind = this.#kind;
    const all = importColumns[kind].all.join(', ');
    const moving = `insert into staged (is_timed, ${all}) select 1, ${all} from ${kind}`;
    this.#db.exec(this.#placed === 0 ? 'rollback' : `${moving}; delete from ${kind}`);
    this.#placeRows = undefined;
    this.#count = this.#placed;
    this.#placed = 0;
  }

  countMissing(): Missing {
    return attempt(this.#db, this.#merge.countMissing);
  }

  /** Merges the staged rows. What is kept waits for `commit`, and all else is rolled back. */
  write(request: WriteRequest): ImportResult {
    const db = this.#db;
    const merge = this.#merge;
    return attempt(db, () => {
      const wasOpen = db.isTransaction;
      if (!wasOpen) db.exec('begin immediate');
      const missing = this.#options.deletesMissing ? merge.deleteMissing() : 0;
      const merged = this.#count > 0 ? merge.merge(this.#staged) : nothing;
      const placed = this.#placed;
      const result = resultOf(placed + this.#count, { ...merged, written: placed + merged.written }, missing);
      this.#placed = 0;
      this.#placeRows = undefined;
      if (commits(request, merged.rejected.length)) {
        const [entry, ...values] = importStatement(request.audit, result) ?? [];
        // The importer has not checked the entry.
        if (!this.#checksRows) db.exec('pragma ignore_check_constraints = off');
        if (entry !== undefined) db.prepare(entry).run(numbered(values));
      } else {
        db.exec('rollback');
        // Rows that were staged before the transaction began are still there.
        if (wasOpen) this.#count = 0;
      }
      return result;
    });
  }

  commit(): void {
    const db = this.#db;
    attempt(db, () => {
      db.exec('delete from staged');
      this.#undo?.sync();
      db.exec('commit');
    });
    this.#count = 0;
  }

  end(): void {
    const db = this.#db;
    try {
      if (db.isTransaction) db.exec('rollback');
      for (const table of this.#tables) db.exec(`drop table ${table.split(' ')[0]}`);
    } catch {
      // Fails on a full disk. The tables are gone when the connection closes.
    }
  }
}

type Insert = ReturnType<typeof createInsert>;

/** Rows of one insert. A statement with many rows takes half the time per row. */
const rowsOfStatement = 100;

/** Returns a function that inserts rows, many at a time. Only the last columns of `width` are inserted. */
function createInsert(db: DatabaseSync, table: string, columns: readonly string[], width = columns.length) {
  const row = `(${Array(columns.length).fill('?').join(', ')})`;
  const insert = (rows: number) =>
    db.prepare(`insert into ${table} (${columns.join(', ')}) values ${Array(rows).fill(row).join()}`);
  const one = insert(1);
  const many = insert(rowsOfStatement);
  const skipped = width - columns.length;
  return (values: readonly SQLInputValue[]): void => {
    const inserted = skipped === 0 ? values : values.filter((_, index) => index % width >= skipped);
    for (let start = 0; start < inserted.length; ) {
      const isMany = start + columns.length * rowsOfStatement <= inserted.length;
      const end = start + columns.length * (isMany ? rowsOfStatement : 1);
      (isMany ? many : one).run(...inserted.slice(start, end));
      start = end;
    }
  };
}

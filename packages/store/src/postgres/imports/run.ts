import { ingestBounds } from '@partner-network/common/bounds/operator';
import { postgresBounds } from '@partner-network/common/bounds/store';
import { toTime } from '@partner-network/common/times';
import { DatabaseError, type QueryResult } from 'pg';
import {
  commits,
  type ImportBegin,
  type ImportKind,
  type ImportResult,
  type ImportRow,
  type ImportRun,
  type ImportWrite,
  UncertainCommit,
} from '../../port.ts';
import { importStatement } from '../../sql/audit.ts';
import { undoFileOf } from '../../sql/exports.ts';
import { CommitGate, hasGone, importColumns, type Merged, nothing, resultOf } from '../../sql/imports.ts';
import { begin, type Connection } from '../connections/connection.ts';
import { translated } from '../connections/errors.ts';
import { hasCitus } from '../distribution/tables.ts';
import { type Batch, copy, copyNew, createOutbox, type Outbox } from './copy.ts';
import { createGrantWrites } from './grants.ts';
import { importLock, type KindWrites, type Query, types } from './kind-writes.ts';
import { createLocalCopies } from './local-copies.ts';
import { createRecordWrites } from './records.ts';

/**
 * Memory to sort a million lines; with the default of 4 MB Postgres sorts on disk. Citus sends the keys of
 * all lines to its nodes, and refuses more than 1 GB by default.
 */
const writeSettings = `set local work_mem = '64MB'; set local citus.max_intermediate_result_size = -1`;

/** A feed retries by itself: it must report that it waits, and react to signals meanwhile. */
const feedSettings = `set local lock_timeout = ${postgresBounds.feedLockMs}`;

const lostDuringCommit =
  'The connection was lost during the commit, so it is unknown whether the import was written.';

function translate(error: unknown): never {
  throw translated(error);
}

/** What is known of the rows in the temporary table, before there are any. */
const noRows = () => ({
  rows: 0,
  deletions: 0,
  /** The partners of brands or the customers of other records, if they are few. */
  owners: new Set<string>(),
});

/**
 * Imports rows of one kind in one transaction. Its states:
 *
 *     staging     rows go to a temporary table. No transaction is open, so a slow feed holds no lock
 *     first load  rows go straight to the table, which was empty, so that each is written once. The
 *                 transaction is open, and no other command adds records of this kind
 *
 *     staging     --the first rows of a file, and the table is empty--> first load
 *     first load  --rows that delete or repeat an id--> staging: the rows so far move to the temporary table,
 *                   and the transaction stays open
 *     either      --write that commits--> staging, without rows
 *     either      --write that rolls back--> staging, with the rows that were staged before the transaction
 *
 * Leaving a first load is the only change of mind. Nobody knows before the last line whether an id repeats:
 * of its lines the newest counts, with its own `created_at` and the same counts as in any other import.
 * Staging each first load instead would write all its rows three times.
 */
export class Run implements ImportRun {
  readonly #kind: ImportKind;
  readonly #options: ImportBegin;
  readonly #connection: Connection;
  readonly #undo: ReturnType<typeof undoFileOf>;
  readonly #columns: readonly string[];
  readonly #startedAt = toTime(Date.now());
  #merge!: KindWrites;
  /** Undefined until the first rows of a file are sent. */
  #isFirstLoad: boolean | undefined;
  readonly #gate = new CommitGate();
  readonly prevent = this.#gate.prevent;
  /** Whether the transaction has begun. */
  #isBegun = false;
  /** Rows that a first load has written. */
  #placed = 0;
  #staged = noRows();
  /** Staged rows that were deleted since the last truncate. */
  #cleared = 0;
  readonly #outbox: Outbox;
  /** Statements that the server has not answered. */
  #running = 0;

  constructor(kind: ImportKind, options: ImportBegin, connection: Connection) {
    const { pace, deletesMissing, overwrites, undoFile } = options;
    this.#kind = kind;
    this.#options = options;
    this.#connection = connection;
    this.#undo = undoFileOf(undoFile);
    this.#columns = importColumns[kind].all;
    this.#outbox = createOutbox(this.#columns, (batch) => this.#send(batch));
    const isReplacing = deletesMissing || overwrites || undoFile !== undefined || kind === 'grants';
    this.#isFirstLoad = pace === 'fast' && !isReplacing ? undefined : false;
  }

  async #tracked<Result>(work: Promise<Result>): Promise<Result> {
    this.#running += 1;
    try {
      return await work;
    } finally {
      this.#running -= 1;
    }
  }

  readonly #query: Query = (text, values) =>
    this.#tracked(this.#connection.query(text, values)).catch(translate);

  async create(): Promise<void> {
    const kind = this.#kind;
    const query = this.#query;
    const isSpread = await this.#tracked(hasCitus(this.#connection)).catch(translate);
    const copies = isSpread ? createLocalCopies(kind, query) : undefined;
    this.#merge =
      kind === 'grants' ? createGrantWrites(query, copies) : createRecordWrites(kind, query, copies);
    // The times of grants are text: an empty expiry stands for null.
    const typeOf = (name: string) => (kind === 'grants' ? undefined : types[name]) ?? 'text collate "C"';
    const typed = this.#columns.map((name) => `${name} ${typeOf(name)}`);
    const staged = `staged (${typed.join(', ')}, is_timed boolean, deleted_at timestamptz, line bigint)`;
    const tables = [staged, ...this.#merge.tables, ...(copies?.tables ?? [])];
    await query(tables.map((table) => `create temporary table ${table}`).join('; '));
  }

  readonly stage = async (rows: readonly ImportRow[]): Promise<void> => {
    const owner = importColumns[this.#kind].identity[0]!;
    for (const row of rows) if (this.#hasFewOwners()) this.#staged.owners.add(row[owner] as string);
    await this.#outbox.add(rows, this.#staged.rows);
  };

  async #send({ lines, tails, deletions }: Batch): Promise<void> {
    this.#isFirstLoad ??= await this.#beginFirstLoad();
    if (this.#isFirstLoad) {
      const into = `${this.#kind} (${this.#columns.join(', ')})`;
      if (deletions === 0 && (await this.#tracked(copyNew(this.#connection, into, lines)))) {
        this.#placed += lines.length;
        return;
      }
      await this.#leaveFirstLoad();
    }
    const whole = lines.map((line, index) => `${line}${tails[index]}`).join('');
    await this.#tracked(copy(this.#connection, 'copy staged from stdin', whole)).catch(translate);
    this.#staged.rows += lines.length;
    this.#staged.deletions += deletions;
  }

  /** Looks twice: other commands wait only if the table is probably empty. */
  async #beginFirstLoad(): Promise<boolean> {
    const empty = `select not exists (select 1 from ${this.#kind} limit 1) as is_empty`;
    const isEmpty = async () => (await this.#query(empty)).rows[0].is_empty as boolean;
    if (!(await isEmpty())) return false;
    if (!(await this.#beginLocked('exclusive')) && (await isEmpty())) return true;
    await this.#query('rollback');
    this.#isBegun = false;
    return false;
  }

  /** Moves the rows so far to the temporary table. Their ids differ, and they replace nothing. */
  async #leaveFirstLoad(): Promise<void> {
    this.#isFirstLoad = false;
    if (this.#placed === 0) return;
    const all = this.#columns.join(', ');
    const moving = `insert into staged (${all}, is_timed, line) select ${all}, true, 0 from ${this.#kind}`;
    await this.#query(`${moving}; delete from ${this.#kind}`);
    this.#staged.rows = this.#placed;
    this.#placed = 0;
  }

  /**
   * Begins the transaction, if that is not done, and takes the lock. Returns whether a row might be older
   * than a deletion. All in one message: each round trip adds to the time of a small batch.
   */
  async #beginLocked(mode: 'shared' | 'exclusive'): Promise<boolean> {
    const settings = this.#options.pace === 'feed' ? `${writeSettings}; ${feedSettings}` : writeSettings;
    const beginning = this.#isBegun ? [] : [begin, settings];
    const look = this.#kind === 'grants' ? 'select true as has_gone' : hasGone(this.#kind);
    const results = await this.#query([...beginning, importLock(this.#kind, mode), look].join('; '));
    this.#isBegun = true;
    return (results as unknown as QueryResult[]).at(-1)!.rows[0].has_gone;
  }

  #hasFewOwners(): boolean {
    return this.#staged.owners.size <= ingestBounds.importNamedOwners;
  }

  readonly countMissing = async () => {
    await this.#outbox.flushAll();
    return this.#merge.countMissing();
  };

  readonly write = async (request: ImportWrite): Promise<ImportResult> => {
    const { audit, onRejected, onCommit } = request;
    await this.#outbox.flushAll();
    const placed = this.#placed;
    const lines = placed + this.#staged.rows;
    const isFirst = this.#isBegun;
    const { missing, ...merged } = await this.#mergeAll();
    const result = resultOf(lines, { ...merged, written: placed + merged.written }, missing);
    const { rejected } = result;
    const isKept = commits(request, rejected.length);
    const [entry, ...values] = importStatement(audit, result) ?? [];
    if (isKept && entry !== undefined) await this.#query(entry, values);
    if (!isKept) await this.#query('rollback');
    if (rejected.length > 0) await onRejected?.(rejected);
    if (isKept) onCommit?.();
    if (isKept) await this.#commitAll();
    // After a trial, rows that were staged before the transaction began are still there.
    if (isKept || isFirst) this.#staged = noRows();
    this.#placed = 0;
    this.#isFirstLoad = false;
    this.#isBegun = false;
    return result;
  };

  /** Writes the staged rows. `missing` is the number of records that were deleted because no row has them. */
  async #mergeAll(): Promise<Merged & { readonly missing: number }> {
    const merge = this.#merge;
    const undo = this.#undo;
    const { deletesMissing = false, overwrites = false } = this.#options;
    const { rows, deletions } = this.#staged;
    const hasDeletions = deletions > 0;
    // An undo file has the stored records, and what overwrites never compares again when it writes.
    const isReading = overwrites || undo !== undefined || this.#kind === 'grants';
    const isAlone = hasDeletions || deletesMissing || isReading;
    const hasGone = await this.#beginLocked(isAlone ? 'exclusive' : 'shared');
    const missing = deletesMissing ? await merge.deleteMissing(this.#startedAt, undo) : 0;
    if (rows === 0) return { ...nothing, missing };
    const hasFewOwners = this.#hasFewOwners();
    const merged = await merge.write({ rows, hasGone, hasDeletions, overwrites, undo, hasFewOwners });
    return { ...merged, missing };
  }

  async #commitAll(): Promise<void> {
    this.#undo?.sync();
    await this.#gate.pass(async () => {
      try {
        await this.#tracked(this.#connection.query(`${this.#clearing()}; commit`));
      } catch (error) {
        throw error instanceof DatabaseError ? translated(error) : new UncertainCommit(lostDuringCommit);
      }
    });
  }

  /**
   * Deletes a few staged rows, which takes a tenth of the time of a truncate. Autovacuum skips temporary
   * tables, so deleted rows pile up until the next truncate.
   */
  #clearing(): string {
    this.#cleared += this.#staged.rows;
    const tables = this.#kind === 'grants' ? ['staged'] : ['staged', 'decided'];
    if (this.#cleared <= ingestBounds.importBatchRecords) {
      return tables.map((table) => `delete from ${table}`).join('; ');
    }
    this.#cleared = 0;
    return `truncate ${tables.join(', ')}`;
  }

  /**
   * Closing the connection drops the table and rolls back an unfinished transaction. A statement that runs
   * would continue on the server, with its locks.
   */
  readonly end = async (): Promise<void> => {
    if (this.#running > 0) await this.#connection.cancel();
    await this.#connection.leave();
  };
}

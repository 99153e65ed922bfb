import { ingestBounds } from '@partner-network/common/bounds/ingest';
import { postgresBounds } from '@partner-network/common/bounds/postgres';
import { toTime } from '@partner-network/common/times';
import { DatabaseError, type QueryResult } from 'pg';
import {
  type ImportBegin,
  type ImportKind,
  type ImportRun,
  type Imports,
  StartOver,
  StoreUnavailable,
  UncertainCommit,
} from '../../port.ts';
import { importStatement } from '../../sql/audit.ts';
import {
  createOrderCheck,
  grantLineColumns,
  importColumns,
  hasGone as selectHasGone,
} from '../../sql/imports.ts';
import type { Sql } from '../../sql/statement.ts';
import { undoFileOf } from '../../sql/undo.ts';
import { begin, type Connection } from '../connections/connection.ts';
import { translated } from '../connections/errors.ts';
import { hasCitus } from '../distribution/tables.ts';
import { importLock } from '../import-locks.ts';
import { type Batch, copy, copyLine, newBatch, tailOf } from './copy.ts';
import { createGrantWrites } from './grants.ts';
import { type KindWrites, type Merged, type Query, types } from './kind-writes.ts';
import { createNodes } from './near.ts';
import { createRecordWrites } from './records.ts';
import { watchLocks } from './watch-locks.ts';

/**
 * Memory to sort a million lines; with the default of 4 MB Postgres sorts on disk. Citus sends the keys of
 * all lines to its nodes, and refuses more than 1 GB by default.
 */
const writeSettings = `set local work_mem = '64MB'; set local citus.max_intermediate_result_size = -1`;

/** A feed retries by itself: it must report that it waits, and react to signals meanwhile. */
const feedSettings = `set local lock_timeout = ${postgresBounds.feedLockMs}`;

const lostDuringCommit =
  'The connection was lost during the commit, so it is unknown whether the import was written.';

const nothing: Merged = { written: 0, stale: 0, deleted: 0, rejected: [] };

/** `connect` opens a connection under a name. `rows` runs a statement on another connection. */
export function createImports(connect: (name: string) => Promise<Connection>, rows: Sql['rows']): Imports {
  return {
    beginImport: async (kind, options = {}) => {
      const command = options.pace === 'feed' ? 'a feed of' : 'an import of';
      const connection = await connect(`partner-network: ${command} ${kind}`);
      const run = createRun(kind, options, connection);
      const stopWatching = options.onWait && watchLocks(rows, connection, options.onWait);
      const end = async () => {
        stopWatching?.();
        await run.end();
      };
      try {
        await run.create();
        return { ...run, end };
      } catch (error) {
        await end();
        throw error;
      }
    },
  };
}

function translate(error: unknown): never {
  throw translated(error);
}

/**
 * Whether a COPY met a row that exists. Citus reports every error of a node in a COPY as an internal one. If
 * it was another error, the staged rows fail with it again when they are written.
 */
function isRefused(error: unknown): boolean {
  return error instanceof DatabaseError && ['23505', 'XX000'].includes(error.code!);
}

/**
 * Imports rows of one kind in one transaction, in one of two ways:
 *
 *     staged    rows go to a temporary table, and `write` merges them at the end: a slow feed holds no lock
 *     direct    rows go straight to the table, which takes half the time, because each is written once
 *
 * A fast import begins direct, unless deletions are remembered. From its first batch with a deletion or with
 * a row that exists already, it is staged. If rows are not sorted, one of them may have the id of a row that
 * was written directly: then the import starts over.
 */
function createRun(
  kind: ImportKind,
  { pace = 'slow', deletesMissing = false, overwrites = false, undoFile }: ImportBegin,
  connection: Connection,
): ImportRun & { create(): Promise<void> } {
  const owner = importColumns[kind].identity[0]!;
  const lineColumns = kind === 'grants' ? grantLineColumns : importColumns[kind].all;
  /** Statements that the server has not answered. */
  let running = 0;
  async function tracked<Result>(work: Promise<Result>): Promise<Result> {
    running += 1;
    try {
      return await work;
    } finally {
      running -= 1;
    }
  }
  const query: Query = (text, values) => tracked(connection.query(text, values)).catch(translate);
  let checkOrder = createOrderCheck(kind);
  let merge: KindWrites;
  const undo = undoFileOf(undoFile);
  const startedAt = toTime(Date.now());
  let isDirect = pace === 'fast' && !deletesMissing && !overwrites && undo === undefined && kind !== 'grants';
  let isCommitting = false;
  let isPrevented = false;
  let isBegun = false;
  /** Rows that were written directly, rows that were staged, and deletions among these. */
  let placed = 0;
  let staged = 0;
  let deletions = 0;
  /** The partners of staged brands or the customers of other records, if they are few. */
  const owners = new Set<string>();
  /** Staged rows that were deleted since the last truncate. */
  let cleared = 0;
  /** Rows that are not sent yet, and the batch that the server is reading. */
  let batch = newBatch(true);
  let sending = Promise.resolve();

  /**
   * Takes the lock, and begins the transaction before that. Returns whether a row might be older than a
   * deletion. All in one message: each round trip adds to the time of a small batch.
   */
  async function lock(mode: 'shared' | 'exclusive', owned?: (table: string) => string): Promise<boolean> {
    const settings = pace === 'feed' ? `${writeSettings}; ${feedSettings}` : writeSettings;
    const beginning = isBegun ? [] : [begin, settings];
    const look = kind === 'grants' ? 'select true as has_gone' : selectHasGone(kind, owned);
    const results = await query([...beginning, importLock(kind, mode), look].join('; '));
    isBegun = true;
    return (results as unknown as QueryResult[]).at(-1)!.rows[0].has_gone;
  }

  const hasFewOwners = () => owners.size <= ingestBounds.importNamedOwners;

  /** See `Staged`. */
  function owned(table: string): string {
    if (owners.size === 0 || !hasFewOwners()) return 'true';
    const names = [...owners].map((name) => connection.escapeLiteral(name));
    return `${table}.${owner} in (${names.join(', ')})`;
  }

  /** Writes lines directly. Returns false, having written nothing, if a row exists already. */
  async function place(lines: readonly string[]): Promise<boolean> {
    if (!isBegun && (await lock('shared'))) return false;
    try {
      // One message for all three: separate round trips left the server idle for an eighth of the time.
      const into = `${kind} (${lineColumns.join(', ')})`;
      const statements = `savepoint batch; copy ${into} from stdin; release batch`;
      await tracked(copy(connection, statements, `${lines.join('\n')}\n`));
    } catch (error) {
      if (!isRefused(error)) throw translated(error);
      // Without the savepoint, a node was lost before the copy.
      await connection.query('rollback to batch').catch(() => translate(error));
      return false;
    }
    placed += lines.length;
    return true;
  }

  async function send({ lines, tails, numbers, isSorted, deletions: deleting }: Batch): Promise<void> {
    isDirect &&= deleting === 0 && (await place(lines));
    if (isDirect) return;
    if (placed > 0 && !isSorted) throw new StartOver();
    const whole = lines.map((line, index) => `${line}${tails[index]}\t${numbers[index]}\n`).join('');
    await tracked(copy(connection, 'copy staged from stdin', whole)).catch(translate);
    staged += lines.length;
    deletions += deleting;
  }

  /** Starts to send all lines after the batch before them. Rejects if that batch failed. */
  async function flush(): Promise<void> {
    await sending;
    if (batch.lines.length > 0) sending = send(batch);
    sending.catch(() => {});
    batch = newBatch(batch.isSorted);
  }

  async function flushAll(): Promise<void> {
    await flush();
    await sending;
  }

  /**
   * Deletes a few staged rows, which takes a tenth of the time of a truncate. Autovacuum skips temporary
   * tables, so deleted rows pile up until the next truncate.
   */
  function clearing(): string {
    cleared += staged;
    if (cleared <= ingestBounds.importBatchRecords) return 'delete from staged';
    cleared = 0;
    return 'truncate staged';
  }

  async function commit(): Promise<void> {
    undo?.sync();
    if (isPrevented) throw new StoreUnavailable('The import was stopped before its commit.');
    isCommitting = true;
    try {
      await tracked(connection.query(`${clearing()}; commit`));
    } catch (error) {
      if (error instanceof DatabaseError) throw translated(error);
      throw new UncertainCommit(lostDuringCommit);
    } finally {
      isCommitting = false;
    }
  }

  return {
    create: async () => {
      const nodes = (await tracked(hasCitus(connection)).catch(translate))
        ? createNodes(kind, query)
        : undefined;
      merge = kind === 'grants' ? createGrantWrites(query, nodes) : createRecordWrites(kind, query, nodes);
      const typeOf = (name: string) => (kind === 'grants' ? undefined : types[name]) ?? 'text collate "C"';
      const columns = kind === 'grants' ? lineColumns : [...lineColumns, 'is_timed', 'deleted_at'];
      const typed = columns.map((name) => `${name} ${typeOf(name)}`);
      const tables = [`staged (${typed.join(', ')}, line bigint)`, ...(nodes?.tables ?? [])];
      const creates = tables.map((table) => `create temporary table ${table}`);
      await query([...creates, ...merge.creates].join('; '));
    },
    stage: async (rows) => {
      batch.isSorted = checkOrder(rows);
      for (const row of rows) {
        const line = copyLine(row, lineColumns);
        batch.lines.push(line);
        batch.tails.push(kind === 'grants' ? '' : tailOf(row));
        batch.numbers.push(row.line ?? staged + batch.lines.length);
        batch.characters += line.length;
        if (row.deleted_at !== undefined) batch.deletions += 1;
        if (hasFewOwners()) owners.add(row[owner] as string);
      }
      if (batch.characters >= ingestBounds.importCopyCharacters) await flush();
    },
    countMissing: async () => {
      await flushAll();
      return merge.countMissing();
    },
    write: async ({ mode, skipsRejected = false, audit, onRejected }) => {
      await flushAll();
      const { isSorted } = batch;
      const hasRepeats = staged > 0 && !isSorted && (await merge.hasRepeats());
      const hasDeletions = deletions > 0;
      // With repeated ids, or to take the import back, stored records are read before they are changed.
      const isAlone =
        hasDeletions || deletesMissing || hasRepeats || overwrites || undo !== undefined || kind === 'grants';
      // Two imports that hold the shared lock could not both get it alone.
      if (isAlone && placed > 0) throw new StartOver();
      const hasGone = await lock(isAlone ? 'exclusive' : 'shared', owned);
      const missing = deletesMissing ? await merge.deleteMissing(startedAt, undo) : 0;
      const lines = { isSorted, hasRepeats, hasGone, hasDeletions, hasFewOwners: hasFewOwners(), owned };
      const merged = staged === 0 ? nothing : await merge.write({ rows: staged, ...lines, overwrites, undo });
      const { rejected } = merged;
      const isKept = mode === 'keep' && (rejected.length === 0 || skipsRejected);
      const written = placed + merged.written;
      const unchanged = placed + staged - written - merged.stale - merged.deleted - rejected.length;
      const result = { written, unchanged, stale: merged.stale, deleted: merged.deleted + missing, rejected };
      const [entry, ...values] = importStatement(audit, result) ?? [];
      if (isKept && entry !== undefined) await query(entry, values);
      if (isKept && rejected.length > 0) await onRejected?.(rejected);
      if (isKept) await commit();
      else await query('rollback');
      // After a trial of a slow import the staged rows are still there: they were staged before it began.
      if (isKept || placed > 0) {
        staged = 0;
        deletions = 0;
        owners.clear();
        checkOrder = createOrderCheck(kind);
        batch = newBatch(true);
      }
      placed = 0;
      isBegun = false;
      return result;
    },
    prevent: () => {
      isPrevented = !isCommitting;
      return isPrevented;
    },
    // Closing the connection drops the table and rolls back an unfinished transaction. A statement that
    // runs would continue on the server, with its locks.
    end: async () => {
      if (running > 0) await connection.cancel();
      await connection.leave();
    },
  };
}

import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import { setTimeout as wait } from 'node:timers/promises';
import { ingestBounds } from '@partner-network/common/bounds/ingest';
import { storeBounds } from '@partner-network/common/bounds/store';
import { toTime } from '@partner-network/common/times';
import {
  type ImportBegin,
  type ImportKind,
  type ImportResult,
  type ImportRow,
  type ImportRun,
  type Missing,
  StoreLocked,
} from '../../port.ts';
import { createOrderCheck, grantLineColumns, importColumns } from '../../sql/imports.ts';
import { startThread } from '../thread-call.ts';
import type { Segment, SegmentForm } from './kind-writes.ts';
import { createRepeatCheck } from './repeat-check.ts';
import { createSigns } from './signs.ts';
import { createImportWrites, type WriteRequest } from './writes.ts';

/** Rows as JSON: copying thousands of values into a thread takes twice as long as one text. */
export type ImportRequest =
  | { readonly segment: string }
  | { readonly write: WriteRequest }
  | { readonly count: true }
  | { readonly commit: true };

const lockedByOther = 'Waiting for another command, such as an import, that locks the database.';

/**
 * The first batch and feeds are written by this thread. From the second batch on, another thread writes while
 * this one reads on and reacts to signals: starting it takes as long as writing a few thousand rows.
 * `requireFiles` throws if the files of the database were replaced: rows written there would be lost.
 */
export async function beginImport(
  db: DatabaseSync,
  path: string,
  requireFiles: () => void,
  kind: ImportKind,
  { onWait, ...options }: ImportBegin = {},
): Promise<ImportRun> {
  let order = createOrder(kind);
  const startedAt = toTime(Date.now());
  const signs = createSigns();
  const begin = () => db.exec('begin immediate');
  const open = () => createImportWrites(db, kind, options, startedAt, signs, begin);
  type Writer = ReturnType<typeof open> | ReturnType<typeof writesInThread>;
  let writer: Writer | undefined = options.pace === 'feed' ? open() : undefined;
  let batches = 0;
  const waiting: Segment[] = [];
  const watch =
    onWait && setInterval(() => signs.isWaiting() && onWait(lockedByOther), storeBounds.sqliteLockWatchMs);
  watch?.unref();

  /** Repeats work that found a lock, and so changed nothing. A feed and the thread do that themselves. */
  async function unlocked<Result>(work: () => Result): Promise<Awaited<Result>> {
    for (;;) {
      try {
        return await work();
      } catch (error) {
        const isRepeated = error instanceof StoreLocked && options.pace !== 'feed';
        if (!isRepeated || signs.isPrevented()) throw error;
      }
      onWait?.(lockedByOther);
      // Signals are handled in this pause.
      await wait(storeBounds.sqliteLockRetryMs);
    }
  }

  async function opened(): Promise<Writer> {
    writer ??= open();
    const { stage } = writer;
    for (const segment of waiting.splice(0)) await unlocked(() => stage(segment));
    return writer;
  }

  return {
    stage: async (rows) => {
      waiting.push(...segmentsOf(rows, kind, order(rows)));
      batches += 1;
      if (batches > 1) writer ??= writesInThread(path, kind, options, startedAt, signs.shared);
      if (writer !== undefined) await opened();
    },
    countMissing: async () => (await opened()).countMissing(),
    write: async ({ onRejected, ...options }) => {
      requireFiles();
      const { write, commit } = await opened();
      const holds = onRejected !== undefined && options.mode === 'keep' && options.skipsRejected === true;
      try {
        const result = await unlocked(() => write({ ...options, holds }));
        if (holds && result.rejected.length > 0) {
          await onRejected(result.rejected);
          await commit();
        }
        requireFiles();
        if (options.mode === 'keep') order = createOrder(kind);
        return result;
      } finally {
        signs.endCommit();
      }
    },
    prevent: signs.prevent,
    end: async () => {
      clearInterval(watch);
      await writer?.end();
    },
  };
}

/** Like `createImportWrites`, in a thread with its own connection. */
function writesInThread(
  path: string,
  kind: ImportKind,
  options: ImportBegin,
  startedAt: string,
  signs: Int32Array,
) {
  const file = new URL('./thread.ts', import.meta.url);
  const thread = startThread<ImportRequest, unknown>(file, { path, kind, options, startedAt, signs });
  /** Batches that the thread has not written yet. Without any ahead, an import takes 15 % longer. */
  const ahead: Promise<unknown>[] = [];

  async function callAfterAll(request: ImportRequest): Promise<unknown> {
    await Promise.all(ahead.splice(0));
    return thread.call(request);
  }

  return {
    /** Resolves when there is room for more rows. A later call reports a failure. */
    stage: async (segment: Segment): Promise<void> => {
      const staged = thread.call({ segment: JSON.stringify(segment) });
      staged.catch(() => {});
      if (ahead.push(staged) > ingestBounds.importBatchesAhead) await ahead.shift();
    },
    countMissing: () => callAfterAll({ count: true }) as Promise<Missing>,
    write: (write: WriteRequest) => callAfterAll({ write }) as Promise<ImportResult>,
    commit: () => thread.call({ commit: true }) as Promise<void>,
    end: thread.close,
  };
}

type Order = Pick<Segment, 'isSorted' | 'mayRepeat'>;

/** Returns a function that says whether these rows and all before them are sorted, and may repeat an id. */
function createOrder(kind: ImportKind): (rows: readonly ImportRow[]) => Order {
  const [owner = '', id = ''] = importColumns[kind].identity;
  const checkOrder = createOrderCheck(kind);
  const keys = createRepeatCheck();
  let isSorted = true;
  let count = 0;
  return (rows) => {
    const wasSorted = isSorted;
    isSorted = checkOrder(rows);
    // Sorted rows are not hashed, so rows before the first unsorted ones are unknown.
    if (wasSorted && !isSorted && count > 0) keys.giveUp();
    if (!isSorted) for (const row of rows) keys.add(row[owner] as string, row[id] as string);
    count += rows.length;
    return { isSorted, mayRepeat: keys.mayRepeat() };
  };
}

function formOf(row: ImportRow, kind: ImportKind): SegmentForm {
  if (kind === 'grants') return 'grant';
  if (row.deleted_at !== undefined) return 'deletion';
  return row.is_timed === 1 ? 'timed' : 'untimed';
}

/** Splits rows where their form changes, or where the number of the line is not the next one. */
function segmentsOf(rows: readonly ImportRow[], kind: ImportKind, order: Order): Segment[] {
  const { identity, all } = importColumns[kind];
  const columnsOf = {
    timed: all,
    untimed: all,
    deletion: [...identity, 'deleted_at'],
    grant: grantLineColumns,
  };
  type Growing = Omit<Segment, 'values' | 'rows'> & { values: SQLInputValue[]; rows: number };
  const segments: Growing[] = [];
  let last: Growing | undefined;
  for (const row of rows) {
    const form = formOf(row, kind);
    const line = (row.line as number | undefined) ?? null;
    const isNext = last?.form === form && (line === null || line === (last.line ?? 0) + last.rows);
    if (last === undefined || !isNext) {
      last = { form, values: [], rows: 0, line, ...order };
      segments.push(last);
    }
    for (const column of columnsOf[form]) last.values.push(row[column] ?? null);
    last.rows += 1;
  }
  return segments;
}

import type { DatabaseSync } from 'node:sqlite';
import { setTimeout as wait } from 'node:timers/promises';
import { ingestBounds } from '@partner-network/common/bounds/operator';
import { storeBounds } from '@partner-network/common/bounds/store';
import { toTime } from '@partner-network/common/times';
import {
  commits,
  type ImportBegin,
  type ImportKind,
  type ImportResult,
  type ImportRun,
  type Missing,
  StoreLocked,
} from '../../port.ts';
import { CommitGate } from '../../sql/imports.ts';
import { shrinkLogMeanwhile } from '../disk-space.ts';
import { startThread } from '../thread-call.ts';
import { createRows, type Rows } from './kind-writes.ts';
import { ImportWrites, type WriteRequest } from './writes.ts';

/** Rows as JSON: copying thousands of values into a thread takes twice as long as one text. */
export type ImportRequest =
  | { readonly rows: string }
  | { readonly write: WriteRequest }
  | { readonly call: 'begin' | 'countMissing' | 'commit' };

const lockedByOther = 'Waiting for another command, such as an import, that locks the database.';

/**
 * The first batch and feeds are written by this thread. From the second batch on, another thread writes while
 * this one reads on and reacts to signals: starting it takes as long as writing a few thousand rows.
 * `requireFiles` throws if the files of the database were replaced: rows written there would be lost.
 * This thread decides about the commit.
 */
export async function beginImport(
  db: DatabaseSync,
  path: string,
  requireFiles: () => void,
  kind: ImportKind,
  { onWait, ...options }: ImportBegin = {},
): Promise<ImportRun> {
  const startedAt = toTime(Date.now());
  const open = () => new ImportWrites(db, kind, options, startedAt);
  type Writer = ReturnType<typeof open> | ReturnType<typeof writesInThread>;
  let writer: Writer | undefined = options.pace === 'feed' ? open() : undefined;
  const gate = new CommitGate();
  let rowsOf = createRows(kind);
  let hasBegun = false;
  const waiting: Rows[] = [];

  /** Repeats work that found a lock, and so changed nothing. A feed repeats it by itself. */
  async function unlocked<Result>(work: () => Result): Promise<Awaited<Result>> {
    for (;;) {
      try {
        return await work();
      } catch (error) {
        if (!(error instanceof StoreLocked) || options.pace === 'feed') throw error;
      }
      onWait?.(lockedByOther);
      // Signals are handled in this pause.
      await wait(storeBounds.lockRetryMs);
      gate.requireOpen();
    }
  }

  /** The writer, which has all rows so far. */
  async function opened(): Promise<Writer> {
    const writes = writer ?? open();
    writer = writes;
    if (!hasBegun) await unlocked(() => writes.begin());
    hasBegun = true;
    for (const rows of waiting.splice(0)) await writes.stage(rows);
    return writes;
  }

  return {
    stage: async (rows) => {
      waiting.push(rowsOf(rows));
      if (waiting.length > 1) writer ??= writesInThread(path, kind, options, startedAt);
      if (writer !== undefined) await opened();
    },
    countMissing: async () => (await opened()).countMissing(),
    write: async ({ onRejected, onCommit, ...request }) => {
      requireFiles();
      const writes = await opened();
      const result = await unlocked(() => writes.write(request));
      if (result.rejected.length > 0) await onRejected?.(result.rejected);
      if (commits(request, result.rejected.length)) {
        onCommit?.();
        await gate.pass(async () => writes.commit());
        if (options.pace === 'feed') shrinkLogMeanwhile(db, path);
        rowsOf = createRows(kind);
      }
      requireFiles();
      return result;
    },
    prevent: gate.prevent,
    end: async () => {
      await writer?.end();
    },
  };
}

/** Like `ImportWrites`, in a thread with its own connection. */
function writesInThread(path: string, kind: ImportKind, options: ImportBegin, startedAt: string) {
  const file = new URL('./thread.ts', import.meta.url);
  const thread = startThread<ImportRequest, unknown>(file, { path, kind, options, startedAt });
  /** Batches that the thread has not written yet. Without any ahead, an import takes 15 % longer. */
  const ahead: Promise<unknown>[] = [];

  async function callAfterAll(request: ImportRequest): Promise<unknown> {
    await Promise.all(ahead.splice(0));
    return thread.call(request);
  }

  return {
    begin: () => thread.call({ call: 'begin' }) as Promise<void>,
    /** Resolves when there is room for more rows. A later call reports a failure. */
    stage: async (rows: Rows): Promise<void> => {
      const staged = thread.call({ rows: JSON.stringify(rows) });
      staged.catch(() => {});
      if (ahead.push(staged) > ingestBounds.importBatchesAhead) await ahead.shift();
    },
    countMissing: () => callAfterAll({ call: 'countMissing' }) as Promise<Missing>,
    write: (write: WriteRequest) => callAfterAll({ write }) as Promise<ImportResult>,
    commit: () => thread.call({ call: 'commit' }) as Promise<void>,
    end: thread.close,
  };
}

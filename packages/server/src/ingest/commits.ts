import { ingestBounds } from '../bounds/ingest.ts';
import type { ImportCounts, ImportKind, ImportRow, ImportRun, Imports } from '../store/port.ts';
import { createBatch } from './batch.ts';
import { isOfStore, type Patience } from './retry.ts';

interface CommitOptions {
  readonly kind: ImportKind;
  /** Aborted when nothing can be written any more, so that the reading ends. */
  readonly stop: AbortController;
  readonly patiently: Patience;
}

interface Outcome extends ImportCounts {
  /** All up to here is written. */
  readonly line: number;
  readonly failure: unknown;
}

interface Commits {
  /** Takes a line, with its row if it is good, and resolves when there is room for the next. */
  add(line: number, row?: ImportRow): Promise<void>;
  /** Commits the rest, if it still can. */
  close(): Promise<Outcome>;
}

/**
 * Commits rows a moment after they come, also when no other follows, and at once when there are many. While a
 * batch is written only one more is filled, so that a feed that is faster than the database has to wait.
 */
export async function openCommits(store: Imports, options: CommitOptions): Promise<Commits> {
  const writer = await openWriter(store, options);
  const written = { written: 0, unchanged: 0, line: 0 };
  let failure: unknown;
  const batch = createBatch();
  let line = 0;
  let timer: NodeJS.Timeout | undefined;
  let underWay: Promise<void> | undefined;

  async function writeBatch(): Promise<void> {
    const [rows, lastLine] = [batch.take(), line];
    clearTimeout(timer);
    timer = undefined;
    try {
      const counts = rows.length === 0 ? { written: 0, unchanged: 0 } : await writer.write(rows);
      written.written += counts.written;
      written.unchanged += counts.unchanged;
      written.line = lastLine;
    } catch (error) {
      failure = error;
      options.stop.abort();
    } finally {
      underWay = undefined;
    }
  }

  /** One at a time: of two lines with one id, the later is written later. */
  async function commit(): Promise<void> {
    await underWay;
    if (failure === undefined) underWay ??= writeBatch();
    await underWay;
  }

  return {
    add: async (lineOfRow, row) => {
      line = lineOfRow;
      if (row === undefined) return;
      batch.add(row);
      while (batch.isFull() && failure === undefined) await commit();
      if (!batch.isEmpty()) timer ??= setTimeout(commit, ingestBounds.followCommitMs);
    },
    close: async () => {
      await commit();
      clearTimeout(timer);
      await writer.close();
      return { ...written, failure };
    },
  };
}

interface Writer {
  write(rows: readonly ImportRow[]): Promise<ImportCounts>;
  close(): Promise<void>;
}

/**
 * Writes again and again on one run. When the database is away for a while, or another writer has locked it,
 * it begins a new one: rows have their ids already, so none that was written after all is written twice.
 */
async function openWriter(store: Imports, { kind, patiently }: CommitOptions): Promise<Writer> {
  let run: ImportRun | undefined = await store.beginImport(kind);

  async function close(): Promise<void> {
    // It may be gone with its connection.
    await run?.end().catch(() => {});
    run = undefined;
  }

  async function tryWrite(rows: readonly ImportRow[]): Promise<ImportCounts> {
    const isOld = run !== undefined;
    try {
      run ??= await store.beginImport(kind);
      await run.stage(rows);
      return await run.write('keep');
    } catch (error) {
      await close();
      // A connection that broke off since the last time is made anew, and nobody need hear of it.
      if (isOld && isOfStore(error)) return tryWrite(rows);
      throw error;
    }
  }

  return { write: (rows) => patiently(() => tryWrite(rows)), close };
}

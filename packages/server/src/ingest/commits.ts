import { ingestBounds } from '../bounds/ingest.ts';
import type { ImportKind, ImportResult, ImportRow, ImportRun, Imports } from '../store/port.ts';
import { createBatch } from './batch.ts';
import { isOutage, type Retry } from './retry.ts';

/**
 * Commits the rows of a feed in batches. While a batch is written, only one more batch is filled, so that a
 * feed that is faster than the database has to wait.
 *
 *     idle    --add--> filling                        starts a timer of followCommitMs
 *     filling --timer, full batch or close--> writing
 *     writing --done--> idle, or filling if rows came meanwhile
 *     writing --error after retries--> failed         aborts `stop`; nothing more is written
 */
export async function openCommits(
  store: Imports,
  kind: ImportKind,
  retry: Retry,
  stop: AbortController,
  onCommit: (result: ImportResult, rows: readonly ImportRow[]) => void,
) {
  const writer = await openWriter(store, kind);
  let doneLine = 0;
  const batch = createBatch();
  let failure: unknown;
  let line = 0;
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> | undefined;

  async function writeBatch(): Promise<void> {
    const [rows, lastLine] = [batch.take(), line];
    clearTimeout(timer);
    timer = undefined;
    try {
      if (rows.length > 0) {
        const result = await retry(() => writer.write(rows));
        onCommit(result, rows);
      }
      doneLine = lastLine;
    } catch (error) {
      failure = error;
      stop.abort();
    } finally {
      writing = undefined;
    }
  }

  /** One batch at a time: of two lines with the same id, the later one must be written last. */
  async function commit(): Promise<void> {
    await writing;
    if (failure === undefined) writing ??= writeBatch();
    await writing;
  }

  return {
    /** Takes a line, with its row if it is valid. Resolves when the next line may come. */
    add: async (lineOfRow: number, row?: ImportRow): Promise<void> => {
      line = lineOfRow;
      if (row === undefined) return;
      batch.add(row);
      while (batch.isFull() && failure === undefined) await commit();
      if (!batch.isEmpty()) timer ??= setTimeout(commit, ingestBounds.followCommitMs);
    },
    /** Commits the remaining rows, unless a write failed. All lines up to the returned one are written. */
    close: async () => {
      await commit();
      clearTimeout(timer);
      await writer.close();
      return { line: doneLine, failure };
    },
  };
}

/**
 * Writes batch after batch on one run. After an outage it begins a new run: rows have their ids already, so a
 * row that was committed before the error is not written twice.
 */
async function openWriter(store: Imports, kind: ImportKind) {
  let run: ImportRun | undefined = await store.beginImport(kind, { pace: 'feed' });
  let isClosed = false;

  async function endRun(): Promise<void> {
    // Fails if the connection of the run is lost.
    await run?.end().catch(() => {});
    run = undefined;
  }

  async function write(rows: readonly ImportRow[]): Promise<ImportResult> {
    const isOld = run !== undefined;
    try {
      run ??= await store.beginImport(kind, { pace: 'feed' });
      await run.stage(rows);
      return await run.write({ mode: 'keep', skipsRejected: true });
    } catch (error) {
      await endRun();
      // The connection broke while it was idle: try once on a new one before reporting an outage.
      if (isOld && !isClosed && isOutage(error)) return write(rows);
      throw error;
    } finally {
      // A write that timed out may begin a run after the close. Its connection would keep the process alive.
      if (isClosed) await endRun();
    }
  }

  return {
    write,
    close: (): Promise<void> => {
      isClosed = true;
      return endRun();
    },
  };
}

import { ingestBounds } from '@partner-network/common/bounds/operator';
import type { ImportKind, ImportResult, ImportRow, ImportRun, Imports } from '@partner-network/store/port';
import { createBatch } from './batch.ts';
import { isOutage, type Retry } from './retry.ts';

/**
 * Commits the rows of a feed in batches. While a batch is written, only one more batch is filled, so that a
 * feed that is faster than the database has to wait.
 *
 *     idle    --add--> filling                        starts a timer of followCommitMs
 *     filling --timer, full batch or close--> writing
 *     writing --done--> idle, or filling if rows came meanwhile
 *     writing --error that is not retried--> failed   aborts `stop`; nothing more is written
 */
export async function openCommits(
  store: Imports,
  kind: ImportKind,
  retry: Retry,
  stop: AbortController,
  onWrite: (rows: readonly ImportRow[]) => void,
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
        onWrite(rows);
        const result = await retry((abandoned) => writer.write(rows, abandoned));
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
    add: async (lineOfRow: number, row?: ImportRow, text?: string): Promise<void> => {
      line = lineOfRow;
      if (row === undefined) return;
      batch.add(row, text);
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
  const begin = () => store.beginImport(kind, { pace: 'feed' });
  /** The run that the next batch takes. An attempt that fails or is abandoned does not give its run back. */
  let idle: ImportRun | undefined = await begin();

  async function write(rows: readonly ImportRow[], abandoned: AbortSignal): Promise<ImportResult> {
    const isOld = idle !== undefined;
    const run = idle ?? (await begin());
    idle = undefined;
    const end = () => endRun(run);
    abandoned.addEventListener('abort', end);
    try {
      abandoned.throwIfAborted();
      await run.stage(rows);
      const result = await run.write({ mode: 'keep', skipsRejected: true });
      abandoned.throwIfAborted();
      idle = run;
      return result;
    } catch (error) {
      await end();
      // The connection broke while it was idle: try once on a new one before reporting an outage.
      if (isOld && !abandoned.aborted && isOutage(error)) return write(rows, abandoned);
      throw error;
    } finally {
      abandoned.removeEventListener('abort', end);
    }
  }

  return { write, close: () => endRun(idle) };
}

async function endRun(run: ImportRun | undefined): Promise<void> {
  // Fails if the connection of the run is lost.
  await run?.end().catch(() => {});
}

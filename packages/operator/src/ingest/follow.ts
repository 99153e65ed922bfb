import { ingestBounds } from '@partner-network/common/bounds/operator';
import { OperatorError } from '@partner-network/common/errors';
import type {
  Accounts,
  ImportCounts,
  ImportKind,
  ImportResult,
  ImportRow,
  ImportRun,
  Imports,
} from '@partner-network/store/port';
import { createBatch, type ImportReport } from './import.ts';
import type { Reading } from './lines.ts';
import type { RejectedFile } from './output-files.ts';
import { createRecordCheck, type RecordOptions } from './record-check.ts';
import { collectRejectedLines, type Rejection, rejectionsOfRefused } from './rejections.ts';
import { isOutage, type Retry } from './retry.ts';

/** What a feed has done so far. */
export type FeedStatus = ReturnType<typeof createFeedStatus>;

export function createFeedStatus() {
  const counts = { written: 0, unchanged: 0, stale: 0, deleted: 0, rejected: 0 };
  let lagMs = 0;
  let committedMs: number | undefined;
  /** The newest time of the lines that are being written, which may wait for a lock or the database. */
  let waiting: string | undefined;
  return {
    counts,
    /** When a line was last committed. */
    committedMs: () => committedMs,
    /** From the newest time of the last lines to their commit, or to now while they wait for it. */
    lagMs: () => (waiting === undefined ? lagMs : lagSince(waiting)),
    writes: (rows: readonly ImportRow[]): void => {
      waiting = newestOf(rows);
    },
    committed: ({ rejected, ...result }: ImportResult, rows: readonly ImportRow[]): void => {
      for (const outcome in result)
        counts[outcome as keyof ImportCounts] += result[outcome as keyof ImportCounts];
      if (rows.length > rejected.length) committedMs = Date.now();
      lagMs = lagSince(newestOf(rows));
      waiting = undefined;
    },
  };
}

/** The newest time of changes and deletions, or an empty text. */
export function newestOf(rows: readonly ImportRow[]): string {
  const times = rows.map(({ updated_at, deleted_at }) => String(deleted_at ?? updated_at));
  return times.reduce((one, other) => (one > other ? one : other), '');
}

export const lagSince = (time: string) => Math.max(0, Date.now() - Date.parse(time));

export interface FollowOptions extends RecordOptions {
  /** Aborted to end the feed, also by the feed itself after an error. */
  readonly stop: AbortController;
  readonly retry: Retry;
  readonly status?: FeedStatus;
  /** Gets each line that is skipped. */
  readonly rejectedFile?: RejectedFile | undefined;
  /** Called for each line that is skipped. The id may be anything that the line has in its place. */
  rejected(line: number, errors: readonly Rejection[], id: unknown): void;
}

/**
 * Reads a feed until it ends, and commits lines as they come. A rejected line is reported and skipped. An
 * error says up to which line everything is written.
 */
export async function followRecords(
  store: Imports & Pick<Accounts, 'findPartner'>,
  readings: AsyncIterable<readonly Reading[]>,
  options: FollowOptions,
): Promise<ImportReport> {
  const { retry, stop, status = createFeedStatus() } = options;
  const check = createRecordCheck({ findPartner: (id) => retry(() => store.findPartner(id)) }, options);
  const rejected = collectRejectedLines();
  /** The texts of lines that are not committed yet, if they are needed. */
  const texts = new Map<number, string | undefined>();
  function reject(line: number, errors: readonly Rejection[], id: unknown, text?: string): void {
    options.rejected(line, errors, id);
    options.rejectedFile?.add(line, errors, text);
    status.counts.rejected += 1;
    rejected.add({ line, errors });
  }
  const commits = await openCommits(store, options, status, (result, rows) => {
    for (const refused of result.rejected) {
      const row = rows.find(({ line }) => line === refused.line);
      reject(refused.line, rejectionsOfRefused(refused), row?.id, texts.get(refused.line));
    }
    for (const { line } of rows) texts.delete(line as number);
  });
  let read = 0;
  let broken: unknown;
  try {
    for await (const some of readings) {
      const checked = await check(some);
      for (const [index, { line, row, text, rejections }] of checked.entries()) {
        read += 1;
        if (rejections.length > 0) reject(line, rejections, idOf(some[index]!), text);
        else if (options.rejectedFile !== undefined) texts.set(line, text);
        await commits.add(line, rejections.length === 0 ? row : undefined, text);
      }
    }
  } catch (error) {
    // A stop ends the input with an error, which is expected.
    broken = stop.signal.aborted && !isOutage(error) ? undefined : error;
  }
  // Lines that came before the feed stopped or broke are committed, too.
  const { line, failure } = await commits.close();
  if (failure ?? broken) throw withLine(failure ?? broken, line);
  const { rejected: _, ...counts } = status.counts;
  return { read, ...counts, ...rejected.report() };
}

function idOf(reading: Reading): unknown {
  return 'value' in reading ? (reading.value as { id?: unknown } | null)?.id : undefined;
}

/** Adds where the sender must continue. */
export function withLine(error: unknown, line: number): Error {
  const { message } = error as Error;
  const progress =
    line === 0
      ? 'No line was written. Send all lines again.'
      : `Lines up to ${line} were written. Send all later lines again.`;
  const Kind = isOutage(error) ? OperatorError : Error;
  return new Kind(`${message} ${progress}`, { cause: error });
}

/**
 * Commits the rows of a feed in batches. While a batch is written, only one more batch is filled, so that a
 * feed that is faster than the database has to wait.
 *
 *     idle    --add--> filling                        starts a timer of followCommitMs
 *     filling --timer, full batch or close--> writing
 *     writing --done--> idle, or filling if rows came meanwhile
 *     writing --error that is not retried--> failed   aborts `stop`; nothing more is written
 */
async function openCommits(
  store: Imports,
  { kind, retry, stop }: Pick<FollowOptions, 'kind' | 'retry' | 'stop'>,
  status: FeedStatus,
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
    const rows = batch.take();
    const lastLine = line;
    clearTimeout(timer);
    timer = undefined;
    try {
      if (rows.length > 0) {
        status.writes(rows);
        const result = await retry((abandoned) => writer.write(rows, abandoned));
        status.committed(result, rows);
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

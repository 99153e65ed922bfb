import { setTimeout as wait } from 'node:timers/promises';
import { bounds } from '../bounds.ts';
import { within } from '../deadline.ts';
import { OperatorError } from '../operator-error.ts';
import {
  type ImportCounts,
  type ImportKind,
  type ImportRow,
  type ImportRun,
  type Imports,
  StoreUnavailable,
} from '../store/port.ts';
import { createBatch } from './batch.ts';

export interface CommitOptions {
  readonly kind: ImportKind;
  /** Aborted when nothing can be written any more, so that the reading ends. */
  readonly stop: AbortController;
  /** Told when the database is away, and for how long it is waited for. */
  waiting(reason: string, forMs: number): void;
  readonly patienceMs?: number;
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
      if (!batch.isEmpty()) timer ??= setTimeout(commit, bounds.followCommitMs);
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
async function openWriter(store: Imports, options: CommitOptions): Promise<Writer> {
  const { kind, waiting, patienceMs = bounds.followPatienceMs } = options;
  let run: ImportRun | undefined = await store.beginImport(kind);

  async function tryWrite(rows: readonly ImportRow[]): Promise<ImportCounts> {
    run ??= await store.beginImport(kind);
    await run.stage(rows);
    return run.write('keep');
  }

  async function close(): Promise<void> {
    // It may be gone with its connection.
    await run?.end().catch(() => {});
    run = undefined;
  }

  async function write(rows: readonly ImportRow[]): Promise<ImportCounts> {
    const giveUpAt = Date.now() + patienceMs;
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await within(giveUpAt - Date.now(), tryWrite(rows), silent);
      } catch (error) {
        await close();
        if (!mayPass(error) || Date.now() + bounds.followRetryMs >= giveUpAt) throw error;
        if (attempt === 1) waiting((error as Error).message, patienceMs);
        await wait(bounds.followRetryMs);
      }
    }
  }
  return { write, close };
}

/** A server that cannot be reached when a run begins is an operator's fault anywhere else. */
function mayPass(error: unknown): boolean {
  return error instanceof StoreUnavailable || error instanceof OperatorError;
}

/** A frozen server does not even fail. */
function silent(): StoreUnavailable {
  return new StoreUnavailable('The database does not answer.');
}

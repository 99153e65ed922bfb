/** Gives disk space back that SQLite would keep: of the write-ahead log, and of deleted receipts. */
import { statSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { setTimeout as wait } from 'node:timers/promises';
import { receiptsBounds } from '@partner-network/common/bounds/service';
import { storeBounds } from '@partner-network/common/bounds/store';
import { attempt } from './engine.ts';

/**
 * Shrinks a large write-ahead log: SQLite merges and reuses it, but never makes it smaller. While another
 * process reads an old snapshot this does nothing; the next command tries again.
 */
export function shrinkLog(db: DatabaseSync, path: string): void {
  const { size = 0 } = statSync(`${path}-wal`, { throwIfNoEntry: false }) ?? {};
  if (size > storeBounds.sqliteLogBytes) emptyLog(db);
}

let nextShrinkMs = 0;

/**
 * Shrinks the log during writes that go on for hours. Under full load some request always reads, and reads
 * an old snapshot, so the log is not reused and would grow. At most once a second, because no other process
 * can write while this waits for readers.
 */
export function shrinkLogMeanwhile(db: DatabaseSync, path: string): void {
  if (performance.now() < nextShrinkMs) return;
  nextShrinkMs = performance.now() + storeBounds.sqliteShrinkEachMs;
  shrinkLog(db, path);
}

/**
 * Merges the write-ahead log into the file and empties it, if no other process uses it. From then on, the
 * connection waits 250 ms for a lock.
 */
export function emptyLog(db: DatabaseSync): void {
  try {
    db.exec(`pragma busy_timeout = ${storeBounds.sqliteServeBusyMs}; pragma wal_checkpoint(truncate)`);
  } catch {
    // Fails on a full disk. The log stays complete.
  }
}

/** Lets a new file give pages back. A file that has tables would need a vacuum for it. */
export const allowRelease = 'pragma auto_vacuum = incremental';
const incremental = 2;

/** Removes free pages from the file in small steps with pauses, so that `serve` can write meanwhile. */
export async function releasePages(db: DatabaseSync): Promise<void> {
  const pragma = (name: string) => Number(Object.values(db.prepare(`pragma ${name}`).get()!)[0]);
  // A file without the setting keeps its free pages, and uses them again.
  while (pragma('auto_vacuum') === incremental && pragma('freelist_count') > 0) {
    attempt(db, () => db.exec(`pragma incremental_vacuum(${storeBounds.sqliteReleasePages})`));
    await wait(receiptsBounds.pruneRestMs);
  }
}

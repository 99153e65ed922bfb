/**
 * Notices that the files of an open database were replaced, removed or overwritten. SQLite does not: it goes
 * on with the file that it opened, while other programs use the new file.
 */
import { type BigIntStats, closeSync, openSync, readSync, renameSync, statSync } from 'node:fs';
import { storeBounds } from '@partner-network/common/bounds/store';
import { StoreUnavailable } from '../port.ts';

/** Called when a failure begins, and with undefined when it has ended. */
type Listener = (failure: string | undefined) => void;

export type FileWatch = ReturnType<typeof watchFiles>;

/** Watches databases that are open and have been read, so that their logs exist. */
export function watchFiles(databases: readonly string[]) {
  const watched = databases.map(watchDatabase);
  const listeners: Listener[] = [];
  let failures: readonly (string | undefined)[] = [];

  const firstFailure = () => failures.find((failure) => failure !== undefined);

  function look(): void {
    const before = firstFailure();
    failures = watched.map(({ failureOf }) => failureOf());
    const after = firstFailure();
    if ((before === undefined) === (after === undefined)) return;
    for (const listener of listeners) listener(after);
  }
  const timer = setInterval(look, storeBounds.sqliteWatchMs).unref();

  function refuse(failure: string | undefined): void {
    if (failure !== undefined) throw new StoreUnavailable(failure);
  }

  return {
    /** Throws if the last look found a failure. */
    require: () => refuse(firstFailure()),
    /** Looks now, and throws if there is a failure: of all databases, or of one. */
    requireNow(database?: string): void {
      look();
      refuse(database === undefined ? firstFailure() : failures[databases.indexOf(database)]);
    },
    onChange: (listener: Listener): void => void listeners.push(listener),
    /** Call it after the databases are closed. */
    close(): void {
      clearInterval(timer);
      for (const { close } of watched) close();
    },
  };
}

const restore = 'stop the service, move all database files away, and restore a backup';

function watchDatabase(path: string) {
  const files = [path, `${path}-wal`, `${path}-shm`];
  const opened = files.map((file) => identityOf(statOf(file)));
  // Kept open: closing any descriptor of a file releases all of SQLite's locks on it in this process.
  const index = openSync(`${path}-shm`, 'r');
  let checkpoint = checkpointIn(index);
  let writtenNs = statOf(path)?.mtimeNs;
  let isOverwritten = false;

  /** With a write-ahead log, only a checkpoint writes to the file. Any other write was not SQLite's. */
  function lookForWrites(): void {
    const before = checkpointIn(index);
    const stat = statOf(path);
    const after = checkpointIn(index);
    const isCheckpoint = checkpoint.isRunning || after.isRunning || checkpoint.id !== after.id;
    if (stat?.mtimeNs !== writtenNs && !isCheckpoint) isOverwritten = true;
    // The next look compares with what was read before the file: a checkpoint may have written since.
    checkpoint = before;
    writtenNs = stat?.mtimeNs;
  }

  return {
    failureOf(): string | undefined {
      for (const [position, file] of files.entries()) {
        const now = identityOf(statOf(file));
        if (now === undefined) return `${file} was removed or moved. Put it back. If it is lost, ${restore}.`;
        // Not "restart": SQLite would apply the log of the old file to the new file, and damage it.
        if (now !== opened[position])
          return `${file} was replaced by another file. Do not restart: ${restore}.`;
      }
      lookForWrites();
      if (!isOverwritten) return undefined;
      const remedy = 'Stop the service, check the file, and restore a backup if it is damaged.';
      return `${path} was overwritten by another program. ${remedy}`;
    },
    close(): void {
      closeSync(index);
      const now = identityOf(statOf(path));
      if (now === undefined || now === opened[0]) return;
      // SQLite would apply the log of the old file to the new file, and damage it.
      for (const [position, file] of files.entries()) {
        if (position > 0 && identityOf(statOf(file)) === opened[position])
          renameSync(file, `${file}-replaced`);
      }
    },
  };
}

function statOf(file: string): BigIntStats | undefined {
  try {
    return statSync(file, { bigint: true });
  } catch {
    return undefined;
  }
}

function identityOf(stat: BigIntStats | undefined): string | undefined {
  return stat && `${stat.dev}:${stat.ino}`;
}

/**
 * The state of checkpoints, from the index of the write-ahead log (https://sqlite.org/walformat.html): the
 * salt of the log, the frames that are in the database file, and the frames that a checkpoint began to copy.
 */
function checkpointIn(index: number) {
  const bytes = Buffer.alloc(132);
  readSync(index, bytes, 0, bytes.length, 0);
  const [salt, copied, begun] = [bytes.subarray(32, 40), bytes.subarray(96, 100), bytes.subarray(128, 132)];
  return {
    id: [salt, copied, begun].map((part) => part.toString('hex')).join(),
    isRunning: !copied.equals(begun),
  };
}

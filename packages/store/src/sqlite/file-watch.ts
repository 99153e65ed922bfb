/**
 * Notices that the files of an open database were replaced or removed. SQLite does not: it goes on with the
 * file that it opened, while other programs use the new file.
 */
import { renameSync, statSync } from 'node:fs';
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
  const opened = files.map(identityOf);

  return {
    failureOf(): string | undefined {
      for (const [position, file] of files.entries()) {
        const now = identityOf(file);
        if (now === undefined) return `${file} was removed or moved. Put it back. If it is lost, ${restore}.`;
        // Not "restart": SQLite would apply the log of the old file to the new file, and damage it.
        if (now !== opened[position])
          return `${file} was replaced by another file. Do not restart: ${restore}.`;
      }
      return undefined;
    },
    close(): void {
      const now = identityOf(path);
      if (now === undefined || now === opened[0]) return;
      // SQLite would apply the log of the old file to the new file, and damage it.
      for (const [position, file] of files.entries()) {
        if (position > 0 && identityOf(file) === opened[position]) renameSync(file, `${file}-replaced`);
      }
    },
  };
}

function identityOf(file: string): string | undefined {
  try {
    const { dev, ino } = statSync(file, { bigint: true });
    return `${dev}:${ino}`;
  } catch {
    return undefined;
  }
}

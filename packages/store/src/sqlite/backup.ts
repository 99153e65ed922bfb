/** Copies the embedded database and its receipts while other processes read and write them. */
import {
  closeSync,
  existsSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { backup } from 'node:sqlite';
import { storeBounds } from '@partner-network/common/bounds/store';
import { OperatorError, whyNotWritten } from '@partner-network/common/errors';
import type { Environment } from '@partner-network/contract/environments';
import { requireEnvironment, requireUpdated } from '../sql/schema.ts';
import { hasCode, translated } from './engine.ts';
import { isReadOnly, openDespiteFullDisk, openToInspect, receiptsFileOf } from './file.ts';
import { databaseSchema, receiptsSchema, stampOf } from './migrate.ts';
import { refuseMissing } from './open.ts';

/** One step copies one snapshot. With several steps, SQLite restarts the copy after every write. */
const pagesOfStep = 2 ** 31 - 1;
/** SQLITE_CORRUPT and SQLITE_NOTADB. */
const damaged = [11, 26];
/** SQLITE_IOERR and SQLITE_FULL. */
const unwritten = [10, 13];

/** Registers a function to call before a signal ends the process. Returns a function that unregisters it. */
type OnInterrupt = (cleanUp: () => void) => () => void;

/** Does not migrate: a copy made before an upgrade must work with the older program. */
export async function backUpSqlite(
  file: string,
  environment: Environment,
  copy: string,
  onInterrupt: OnInterrupt,
) {
  const source = resolve(file);
  const target = resolve(copy);
  refuseMissing(source, false);
  try {
    // Not the resolved name: with a slash at the end, it is that of a folder, which must exist.
    const folder = claimedFolder(copy);
    const cleanUp = () => {
      // SQLite may create or delete its journal meanwhile. `rmSync` then fails, or stops without an error.
      const options = { recursive: true, force: true, maxRetries: 10, retryDelay: 10 };
      while (existsSync(folder)) rmSync(folder, options);
    };
    const unregister = onInterrupt(cleanUp);
    try {
      return await copyInto(folder, source, target, environment);
    } finally {
      cleanUp();
      unregister();
    }
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    const isFileError = /^E[A-Z]+$/.test(code) || hasCode(error, ...unwritten);
    throw isFileError
      ? new OperatorError(`Cannot write ${target}: ${whyNotWritten(error)}.`)
      : translated(error);
  }
}

/**
 * Creates the folder of the unfinished copies. While it exists, no other backup can use this name. A folder
 * above it that is missing is not created: it may be a disk that is not mounted.
 */
function claimedFolder(copy: string): string {
  const folder = resolve(`${copy}.partial`);
  try {
    mkdirSync(folder, { mode: 0o700 });
    return folder;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    throw new OperatorError(
      `${folder} already exists: another backup is running or was interrupted. If it was interrupted, remove the folder.`,
    );
  }
}

async function copyInto(folder: string, source: string, target: string, environment: Environment) {
  const database = { source, target, partial: join(folder, 'database') };
  const receipts = {
    source: receiptsFileOf(source),
    target: receiptsFileOf(target),
    partial: join(folder, 'receipts'),
  };
  for (const part of [database, receipts]) refuseOverwriting(part.target);
  // Receipts are copied second, so that they are never older than the database.
  const parts = existsSync(receipts.source) ? [database, receipts] : [database];
  for (const part of parts) await copyFile(part.source, part.partial, environment, part === database);
  // The database is renamed last: if its copy exists, the backup is complete.
  for (const part of parts.toReversed()) renameSync(part.partial, part.target);
  flush(dirname(target));
  const copied = (path: string) => ({ file: path, bytes: statSync(path).size });
  // A database that was never served has no receipts.
  return {
    database: copied(target),
    ...(parts.includes(receipts) && { receipts: copied(receipts.target) }),
  };
}

/** Uses lstat, because a rename would also replace a broken link. */
function refuseOverwriting(target: string): void {
  if (lstatSync(target, { throwIfNoEntry: false }) === undefined) return;
  throw new OperatorError(`${target} already exists, and a backup overwrites nothing. Choose another name.`);
}

async function copyFile(source: string, partial: string, environment: Environment, isDatabase: boolean) {
  const schema = isDatabase ? databaseSchema : receiptsSchema;
  // Only the owner may read it, like the database.
  closeSync(openSync(partial, 'wx', 0o600));
  try {
    // A writable connection if possible: a read-only one would leave a write-ahead log behind.
    const timeout = storeBounds.sqliteCommandBusyMs;
    using db = isReadOnly(source, {}) ? openToInspect(source, timeout) : openDespiteFullDisk(source, timeout);
    const { version, environment: stamped } = stampOf(db, schema) ?? { version: 0, environment };
    if (isDatabase) requireUpdated(version, 1);
    requireEnvironment(stamped, environment);
    await backup(db, partial, { rate: pagesOfStep });
    refuseDamage(partial);
    flush(partial);
  } catch (error) {
    if (!hasCode(error, ...damaged)) throw error;
    // If the receipts are damaged, the database has already passed the check.
    const remedy = isDatabase
      ? 'Keep your backups, and restore the newest.'
      : 'The database itself is intact. Stop the service, move the receipts away, start it, and try again.';
    throw new OperatorError(
      `${source} is damaged (${(error as Error).message}). Nothing was copied. ${remedy}`,
    );
  }
}

/** Checks the copy and not the original, which other processes use. */
function refuseDamage(copy: string): void {
  using db = openToInspect(copy);
  const found = db.prepare('pragma integrity_check').get()?.integrity_check;
  if (found !== 'ok') throw Object.assign(new Error(String(found)), { errcode: damaged[0] });
}

/** Writes the file to disk: a backup must survive a power failure. */
function flush(path: string): void {
  const descriptor = openSync(path, 'r');
  fsyncSync(descriptor);
  closeSync(descriptor);
}

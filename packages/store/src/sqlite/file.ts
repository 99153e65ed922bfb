/** Opens database files, and checks what this user may do with them. */
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  realpathSync,
  statSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { DatabaseSync, type DatabaseSyncOptions } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { storeBounds } from '@partner-network/common/bounds/store';
import { OperatorError, whyNotWritten } from '@partner-network/common/errors';
import type { OpenOptions } from '../address.ts';
import { StoreUnavailable } from '../port.ts';
import { triedStatement } from '../sql/audit.ts';
import { codeOf, hasCode, isLocked, numbered, transaction, translated } from './engine.ts';

/** The file beside a database that holds its receipts. */
export function receiptsFileOf(database: string): string {
  return `${database}-receipts`;
}

/** Opens a database file, or creates it. */
export function openFile(path: string, { access = 'read', openingBlockMs }: OpenOptions): DatabaseSync {
  // Only the owner may read it: it holds key digests, cursor keys and balances.
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  createIfMissing(path);
  const timeout = openingBlockMs ?? storeBounds.sqliteCommandBusyMs;
  return access === 'write'
    ? new DatabaseSync(path, { timeout })
    : openDespiteFullDisk(path, timeout, access);
}

/** SQLITE_FULL, and SQLITE_IOERR_SHMSIZE: there is no room for the index of a write-ahead log. */
const isFull = (error: unknown) => [13, 4874].includes(codeOf(error));

/** SQLITE_CANTOPEN. */
const cannotOpenFile = 14;

/**
 * SQLite creates an index beside the write-ahead log to read, unless another process has. If the disk has no
 * room for it, this process keeps the index in memory, and other processes wait until it has ended.
 */
export function openDespiteFullDisk(
  path: string,
  timeout: number,
  access: OpenOptions['access'] = 'read',
): DatabaseSync {
  try {
    return opened(path, { timeout });
  } catch (error) {
    if (isFull(error)) return opened(path, { timeout }, ['vfs', 'unix-excl']);
    if (!hasCode(error, cannotOpenFile) || existsSync(`${realPathOf(path)}-wal`) || access === 'lock')
      throw error;
    // The log, which has the locks, cannot be created, as on a disk that can hold no more files.
    return openImmutable(path, timeout);
  }
}

/**
 * Creates an empty file. A file that exists is not opened: closing it again would release the locks that
 * other connections of this process hold on it, and another process could then remove their log.
 */
function createIfMissing(path: string): void {
  const isFile = statSync(path, { throwIfNoEntry: false })?.isFile();
  if (isFile) accessSync(path, constants.R_OK | constants.W_OK);
  else closeSync(openSync(path, 'a', 0o600));
}

/** Opens a file for reading without leaving a trace, also on a disk that is mounted read-only. */
export function openToInspect(path: string, timeout: number = storeBounds.sqliteServeBusyMs): DatabaseSync {
  const real = realPathOf(path);
  const log = statSync(`${real}-wal`, { throwIfNoEntry: false });
  // Without a log, no process has the file open.
  if (log === undefined) return openImmutable(path, timeout);
  try {
    return opened(path, { timeout, readOnly: true });
  } catch (error) {
    if (isFull(error)) return openDespiteFullDisk(path, timeout);
    // Without an index beside the log, SQLite must write one.
    if (existsSync(`${real}-shm`)) throw error;
    if (log.size === 0) return openImmutable(path, timeout);
    const remedy = 'Copy both files to a folder where this user may write, and use the copy';
    throw new Error(`${real}-wal has changes that cannot be read here. ${remedy}`, { cause: error });
  }
}

/** Tries a change on a connection of its own, which does not wait for a lock. Never creates the file. */
export async function tryWrite(path: string): Promise<void> {
  const [text, ...values] = triedStatement();
  try {
    using db = opened(path, { timeout: 0 }, ['mode', 'rw']);
    transaction(db, 'immediate', () => db.prepare(text).run(numbered(values)), 'rollback');
  } catch (error) {
    throw translated(error);
  }
}

/** The path without symbolic links: SQLite keeps the log beside the file, not beside a link to it. */
function realPathOf(path: string): string {
  return existsSync(path) ? realpathSync(path) : path;
}

/** Reads no log. Any other connection creates a missing log, owned by this user. */
function openImmutable(path: string, timeout: number): DatabaseSync {
  return opened(path, { timeout, readOnly: true }, ['immutable', '1']);
}

/** Opens a file and reads from it: SQLite opens the log when it first reads. */
function opened(path: string, options: DatabaseSyncOptions, ...settings: [string, string][]): DatabaseSync {
  const url = pathToFileURL(path);
  for (const [name, value] of settings) url.searchParams.set(name, value);
  const db = new DatabaseSync(url, options);
  try {
    db.prepare('select count(*) from sqlite_master').get();
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Whether the file can only be read, and that is enough. A command that writes fails at its first write. */
export function isReadOnly(path: string, { access = 'read' }: OpenOptions): boolean {
  return access === 'read' && !(mayWrite(path) && mayWrite(dirname(path)));
}

/** Why this user cannot see whether the file exists, or undefined if it can be seen. */
export function obstacleTo(path: string): string | undefined {
  const code = errorCodeOf(() => statSync(path));
  if (code === undefined || code === 'ENOENT') return undefined;
  if (code === 'EACCES') return `this user has no access to ${nearestExisting(path)}`;
  return code === 'ENOTDIR'
    ? `${nearestExisting(path)} is not a folder`
    : `the path cannot be used (${code})`;
}

/** What a newcomer with a sandbox overlooks, or nothing. */
export function sandboxBeside(path: string): string {
  const isBeside = basename(path) === 'production.db' && existsSync(join(dirname(path), 'sandbox.db'));
  return isBeside ? 'For the sandbox beside it, add --environment sandbox. ' : '';
}

/** The file, or its nearest folder that exists: the file would be created there. */
export function nearestExisting(path: string): string {
  return errorCodeOf(() => statSync(path)) === undefined ? path : nearestExisting(dirname(path));
}

/** True if this user may read and write the file, or if it does not exist. */
export function mayWrite(path: string): boolean {
  return errorOfWriting(path) === undefined;
}

/** Why this user may not read and write the file: EACCES, or EROFS on a disk that is mounted read-only. */
export function errorOfWriting(path: string): string | undefined {
  const code = errorCodeOf(() => accessSync(path, constants.R_OK | constants.W_OK));
  return code === 'ENOENT' ? undefined : code;
}

export function mayRead(path: string): boolean {
  return errorCodeOf(() => accessSync(path, constants.R_OK)) === undefined;
}

function errorCodeOf(work: () => unknown): string | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code;
  }
}

/** SQLITE_CORRUPT. */
const damaged = 11;

/** Says in words for an operator why `what`, such as "the database", cannot be opened at this path. */
export function cannotOpen(what: string, path: string, error: unknown): OperatorError {
  // The cause is the error of SQLite.
  const failure = (error instanceof StoreUnavailable ? error.cause : error) as NodeJS.ErrnoException;
  const [reason, remedy = 'Find the cause with "partner-network doctor".'] = explained(failure);
  // A command that retries recognizes a lock by the cause.
  const cause = isLocked(failure) ? translated(failure) : error;
  return new OperatorError(`Cannot open ${what} ${path}: ${reason}. ${remedy}`, { cause });
}

function explained(failure: NodeJS.ErrnoException): [reason: string, remedy?: string] {
  const { code = '', message } = failure;
  if (isFull(failure) || code === 'ENOSPC' || code === 'EDQUOT') {
    return ['its disk is full', 'Delete files that are not needed, or use a larger disk.'];
  }
  if (isLocked(failure)) {
    return ['another command, such as an import, locks it', 'Run the command again when that has ended.'];
  }
  if (hasCode(failure, damaged)) return [`it is damaged (${message})`, 'Restore a backup.'];
  return [whyNotWritten(failure)];
}

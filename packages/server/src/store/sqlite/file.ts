/** Opens database files, and checks what this user may do with them. */
import { accessSync, closeSync, constants, existsSync, mkdirSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { storeBounds } from '../../bounds/store.ts';
import type { Purpose } from '../address.ts';

/** The file beside a database that holds its receipts. */
export function receiptsFileOf(database: string): string {
  return `${database}-receipts`;
}

/** Opens a database file, or creates it. */
export function openFile(path: string, purpose: Purpose): DatabaseSync {
  // Only the owner may read it: it holds key digests, cursor keys and balances.
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  closeSync(openSync(path, 'a', 0o600));
  const timeout = purpose === 'serve' ? storeBounds.sqliteServeBusyMs : storeBounds.sqliteCommandBusyMs;
  return new DatabaseSync(path, { timeout });
}

/**
 * Opens a file without leaving a trace. Even a read-only connection creates a write-ahead log, owned by this
 * user, unless the file is opened as immutable. Without a log, no process has the file open.
 */
export function openToInspect(path: string): DatabaseSync {
  const url = pathToFileURL(path);
  if (!existsSync(`${path}-wal`)) url.searchParams.set('immutable', '1');
  const db = new DatabaseSync(url, { readOnly: true, timeout: storeBounds.sqliteServeBusyMs });
  try {
    db.prepare('select count(*) from sqlite_master').get();
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
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

/** The file, or its nearest folder that exists: the file would be created there. */
export function nearestExisting(path: string): string {
  return errorCodeOf(() => statSync(path)) === undefined ? path : nearestExisting(dirname(path));
}

/** True if this user may read and write the file, or if it does not exist. */
export function mayWrite(path: string): boolean {
  const code = errorCodeOf(() => accessSync(path, constants.R_OK | constants.W_OK));
  return code === undefined || code === 'ENOENT';
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

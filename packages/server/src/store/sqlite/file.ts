import { closeSync, existsSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { storeBounds } from '../../bounds/store.ts';
import type { Purpose } from '../address.ts';

/** Where a database has its receipts. */
export function receiptsFileOf(database: string): string {
  return `${database}-receipts`;
}

/** Opens a file of ours, or makes it. */
export function openFile(path: string, purpose: Purpose): DatabaseSync {
  // Key digests, the cursor key and people's balances are inside: what we make is for the owner alone.
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  closeSync(openSync(path, 'a', 0o600));
  const timeout = purpose === 'serve' ? storeBounds.sqliteServeBusyMs : storeBounds.sqliteCommandBusyMs;
  return new DatabaseSync(path, { timeout });
}

/**
 * Where there is no log beside the file nobody has it open, and even a connection that only reads would make
 * one and leave it there, as this user's. Unless it takes the file for one that cannot change.
 */
export function openToLook(path: string): DatabaseSync {
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

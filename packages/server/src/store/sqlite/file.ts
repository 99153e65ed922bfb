import { closeSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { bounds } from '../../bounds.ts';
import type { Purpose } from '../open.ts';

/** Opens a file of ours, or makes it. */
export function openFile(path: string, purpose: Purpose): DatabaseSync {
  // Key digests, the cursor key and people's balances are inside: what we make is for the owner alone.
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  closeSync(openSync(path, 'a', 0o600));
  const timeout = purpose === 'serve' ? bounds.sqliteServeBusyMs : bounds.sqliteCommandBusyMs;
  return new DatabaseSync(path, { timeout });
}

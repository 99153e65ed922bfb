import { closeSync, mkdirSync, openSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Environment } from '@partner-network/contract/scopes';
import { OperatorError } from '../../operator-error.ts';
import type { Store } from '../port.ts';
import { createAccounts } from './accounts.ts';
import { createImports } from './imports.ts';
import { migrate } from './migrate.ts';
import { createReads } from './reads.ts';

/** Opens the embedded database, makes it if there is none, and brings its schema up to date. */
export function openSqlite(path: string, environment: Environment, busyMs: number): Store {
  const db = openFile(path, busyMs);
  try {
    const migration = migrate(db, environment);
    return {
      environment,
      migration,
      ...createReads(db),
      ...createAccounts(db),
      ...createImports(db),
      close: async () => db.close(),
    };
  } catch (error) {
    db.close();
    throw explained(path, error);
  }
}

function openFile(path: string, busyMs: number): DatabaseSync {
  try {
    // Key digests, the cursor key and people's balances are inside: what we make is for the owner alone.
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    closeSync(openSync(path, 'a', 0o600));
    // An absolute path, because SQLite takes one that begins with "file:" for something else.
    return new DatabaseSync(resolve(path), { timeout: busyMs });
  } catch (error) {
    throw explained(path, error);
  }
}

function explained(path: string, error: unknown): OperatorError {
  if (error instanceof OperatorError) return error;
  const reason = error instanceof Error ? error.message : String(error);
  return new OperatorError(`Cannot open the database ${path}: ${reason}.`, { cause: error });
}

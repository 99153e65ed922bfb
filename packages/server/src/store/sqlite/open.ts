import { closeSync, existsSync, mkdirSync, openSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Environment } from '@partner-network/contract/environments';
import { bounds } from '../../bounds.ts';
import { OperatorError } from '../../operator-error.ts';
import { createAccounts } from '../accounts.ts';
import type { Purpose } from '../open.ts';
import type { Store } from '../port.ts';
import { plainSql } from './engine.ts';
import { createImports } from './imports.ts';
import { migrate } from './migrate.ts';
import { createReads } from './reads.ts';

/** Opens the embedded database, and brings its schema up to date. */
export function openSqlite(file: string, environment: Environment, purpose: Purpose): Store {
  // An absolute path, because SQLite takes one that begins with "file:" for something else.
  const path = resolve(file);
  let db: DatabaseSync | undefined;
  try {
    db = openFile(path, purpose);
    const migration = migrate(db, environment);
    return {
      environment,
      migration,
      metrics: [],
      ...createReads(db),
      ...createAccounts(plainSql(db)),
      ...createImports(db),
      close: async () => db?.close(),
    };
  } catch (error) {
    db?.close();
    if (error instanceof OperatorError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new OperatorError(`Cannot open the database ${path}: ${reason}.`, { cause: error });
  }
}

function openFile(path: string, purpose: Purpose): DatabaseSync {
  // A mistyped path is no new database; only a command that can be the first on one makes it.
  if (purpose === 'command' && !existsSync(path)) {
    throw new OperatorError(
      `There is no database ${path}: "partner-network migrate" makes one, --database names another.`,
    );
  }
  // Key digests, the cursor key and people's balances are inside: what we make is for the owner alone.
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  closeSync(openSync(path, 'a', 0o600));
  const timeout = purpose === 'serve' ? bounds.sqliteServeBusyMs : bounds.sqliteCommandBusyMs;
  return new DatabaseSync(path, { timeout });
}

import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { bounds } from '../bounds.ts';
import type { DatabaseConfig } from '../config.ts';
import { OperatorError } from '../operator-error.ts';
import { openStore } from '../store/open.ts';
import { AlreadyExists, type Partner, type Store } from '../store/port.ts';

/** Opens the database for one command, and closes it whatever happens. */
export async function withStore<Result>(
  config: DatabaseConfig,
  work: (store: Store) => Promise<Result>,
): Promise<Result> {
  // A mistyped path is no new database; only a command that can begin one makes it.
  if (!existsSync(config.database.path)) {
    throw new OperatorError(
      `There is no database ${resolve(config.database.path)}: "partner-network migrate" makes one, --database names another.`,
    );
  }
  return withNewStore(config, work);
}

/** The same for commands that can be the first on a database, and make it where there is none. */
export async function withNewStore<Result>(
  { database, environment }: DatabaseConfig,
  work: (store: Store) => Promise<Result>,
): Promise<Result> {
  const store = await openStore(database, environment, bounds.sqliteCommandBusyMs);
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

export async function requirePartner(store: Store, id: string): Promise<Partner> {
  const partner = await store.findPartner(id);
  if (partner === undefined) {
    throw new OperatorError(`There is no partner ${id}: "partner-network partners list" shows all.`);
  }
  return partner;
}

/** Turns the engine's "exists already" into a sentence. */
export async function explainConflict(what: string, write: Promise<void>): Promise<void> {
  try {
    await write;
  } catch (error) {
    throw error instanceof AlreadyExists ? new OperatorError(`${what} already exists.`) : error;
  }
}

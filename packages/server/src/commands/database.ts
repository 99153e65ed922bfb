import { bounds } from '../bounds.ts';
import type { Output } from '../command-line/command.ts';
import type { DatabaseConfig } from '../config.ts';
import { OperatorError } from '../operator-error.ts';
import { openStore } from '../store/open.ts';
import { AlreadyExists, type Partner, type Store } from '../store/port.ts';

/** Opens the database for one command, and closes it whatever happens. */
export async function withStore<Result>(
  { database, environment }: DatabaseConfig,
  output: Output,
  work: (store: Store) => Promise<Result>,
): Promise<Result> {
  const store = await openStore(database, environment, bounds.sqliteCommandBusyMs);
  // Said aloud because a mistyped path makes a new database, too.
  if (store.migration.from === 0) output.remark(`Made a new ${environment} database, ${database.path}.`);
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
    throw error instanceof AlreadyExists ? new OperatorError(`${what} exists already.`) : error;
  }
}

import { type Command, command } from '../command-line/command.ts';
import { flag, type Options, type Values } from '../command-line/options.ts';
import type { Output } from '../command-line/output.ts';
import { OperatorError } from '../lib/operator-error.ts';
import { databaseConfig, databaseSettings } from '../serve/settings.ts';
import type { Purpose } from '../store/address.ts';
import { openStore } from '../store/engines.ts';
import { AlreadyExists, type ApiKey, type Partner, type Store } from '../store/port.ts';

interface DatabaseCommand<O extends Options> {
  readonly arguments?: Command['arguments'];
  readonly options: O;
  /** A command that can be the first on a database makes it where there is none. */
  readonly purpose?: Purpose | ((values: Values<O & typeof commonOptions>) => Purpose);
  conflicts?(values: Values<O & typeof commonOptions>, words: readonly string[]): string[];
  run(
    store: Store,
    values: Values<O & typeof commonOptions>,
    words: readonly string[],
    output: Output,
  ): Promise<void>;
}

const commonOptions = { ...databaseSettings, json: flag('print one JSON document') };

/** A command on the database: it is opened for it, and closed whatever happens. */
export function onDatabase<O extends Options>(definition: DatabaseCommand<O>): Command {
  return command({
    arguments: definition.arguments,
    options: { ...definition.options, ...commonOptions },
    conflicts: (values, words) => definition.conflicts?.(values, words) ?? [],
    run: async (values, words, output) => {
      const { database, environment } = databaseConfig(values);
      const { purpose = 'command' } = definition;
      const purposeNow = typeof purpose === 'function' ? purpose(values) : purpose;
      const store = await openStore(database, environment, purposeNow);
      try {
        await definition.run(store, values, words, output);
      } finally {
        await store.close();
      }
    },
  });
}

/** The same, printing a line of JSON for each record: one document could not be read as it comes. */
export function printingLines(printed: Command): Command {
  return { ...printed, options: { ...printed.options, json: flag('changes nothing: all is JSON Lines') } };
}

/** An empty file looks like the right one of a wrong database: whoever made it must be told. */
export function remarkNothing(output: Output, what: string): void {
  output.remark(
    `There are no ${what} in this database, so nothing is printed: check --database and DATABASE_URL.`,
  );
}

export async function requirePartner(store: Store, id: string): Promise<Partner> {
  const partner = await store.findPartner(id);
  if (partner === undefined) {
    throw new OperatorError(`There is no partner ${id}: "partner-network partners list" shows all.`);
  }
  return partner;
}

export async function requireKey(store: Store, id: string): Promise<ApiKey> {
  const key = await store.findKeyById(id);
  if (key === undefined) {
    throw new OperatorError(
      `There is no key ${id}: "partner-network keys list --partner ID" shows a partner's.`,
    );
  }
  return key;
}

/** Turns the engine's "exists already" into a sentence. */
export async function explainConflict(what: string, write: Promise<void>): Promise<void> {
  try {
    await write;
  } catch (error) {
    throw error instanceof AlreadyExists ? new OperatorError(`${what} already exists.`) : error;
  }
}

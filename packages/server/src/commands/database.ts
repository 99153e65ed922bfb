/** What the commands on a database share. */
import { lengths } from '@partner-network/contract/limits';
import { type Command, command, printReport, type Report } from '../command-line/command.ts';
import { flag, type Options, plainText, type Values } from '../command-line/options.ts';
import type { Output } from '../command-line/output.ts';
import type { Syntax } from '../command-line/parse.ts';
import { type Cells, table } from '../command-line/table.ts';
import { OperatorError } from '../lib/operator-error.ts';
import { databaseConfig, databaseSettings } from '../serve/settings.ts';
import type { Purpose } from '../store/address.ts';
import { openStore } from '../store/engines.ts';
import { AlreadyExists, type ApiKey, type Partner, type Store } from '../store/port.ts';

export const partnerId = plainText(lengths.partnerId);
export const customerId = plainText(lengths.customerId);

export const commonOptions = { ...databaseSettings, json: flag('print one JSON document') };

type AllValues<O extends Options> = Values<O & typeof commonOptions>;

interface DatabaseCommand<O extends Options>
  extends Pick<Syntax<O & typeof commonOptions>, 'arguments' | 'conflicts'>,
    Pick<Command, 'ifFailed'> {
  readonly options: O;
  /** How the database is opened; 'command' if absent, which creates none. */
  purpose?(values: AllValues<O>): Purpose;
  /** Returns the report to print, or prints by itself if the output is too long for memory. */
  run(
    store: Store,
    values: AllValues<O>,
    words: readonly string[],
    output: Output,
    // biome-ignore lint/suspicious/noConfusingVoidType: a function that returns nothing fits only void.
  ): Promise<Report | void>;
}

/** A command that opens the database, and closes it even if it fails. */
export function onDatabase<O extends Options>(definition: DatabaseCommand<O>): Command {
  return command({
    arguments: definition.arguments,
    ifFailed: definition.ifFailed,
    options: { ...definition.options, ...commonOptions },
    conflicts: (values, words) => definition.conflicts?.(values, words) ?? [],
    run: async (values, words, output) => {
      const common = values as Values<typeof commonOptions>;
      const { database, environment } = databaseConfig(common);
      const store = await openStore(database, environment, definition.purpose?.(values) ?? 'command');
      try {
        const report = await definition.run(store, values, words, output);
        if (report) printReport(report, common.json, output);
      } finally {
        await store.close();
      }
    },
  });
}

/** A command that prints JSON Lines with and without --json: one document could not be read line by line. */
export function printingLines(printed: Command): Command {
  return {
    ...printed,
    options: { ...printed.options, json: flag('no effect: the output is always JSON Lines') },
  };
}

/** An empty export may come from the wrong database, so the operator is warned. */
export function remarkNothing(output: Output, what: string): void {
  output.remark(`This database has no ${what}, so nothing was printed. Check --database and DATABASE_URL.`);
}

export function remarkPastExpiry(output: Output, what: 'key' | 'grant', expiresAt: string | undefined): void {
  if (isPast(expiresAt)) output.remark(`Warning: --expires-at is in the past, so the ${what} does not work.`);
}

export function isPast(time: string | undefined): boolean {
  return time !== undefined && Date.parse(time) <= Date.now();
}

export async function requirePartner(store: Store, id: string): Promise<Partner> {
  const partner = await store.findPartner(id);
  return partner ?? missing(`partner ${id}`, '"partner-network partners list" lists all partners.');
}

export async function requireKey(store: Store, id: string): Promise<ApiKey> {
  const key = await store.findKeyById(id);
  return key ?? missing(`key ${id}`, '"partner-network keys list --partner ID" lists the keys of a partner.');
}

export function missing(what: string, remedy: string): never {
  throw new OperatorError(`There is no ${what}. ${remedy}`);
}

/** Reports a list as a table; `none` is the sentence for an empty list. */
export function listReport<R>(value: readonly R[], none: string, cells: Cells<R>): Report {
  return { value, text: value.length === 0 ? none : table(value, cells) };
}

/** Waits for a write. If a record exists already, `message` is reported as an error of the operator. */
export async function explainConflict(message: string, write: Promise<void>): Promise<void> {
  try {
    await write;
  } catch (error) {
    throw error instanceof AlreadyExists ? new OperatorError(message) : error;
  }
}

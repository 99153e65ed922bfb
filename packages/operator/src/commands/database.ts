/** What the commands on a database share. */
import { commandLineBounds } from '@partner-network/common/bounds/common';
import { actor, reason } from '@partner-network/common/command-line/changes';
import {
  type Command,
  command,
  type Output,
  printReport,
  type Report,
} from '@partner-network/common/command-line/command';
import {
  flag,
  type Option,
  type Options,
  optional,
  Problem,
  plainText,
  type Reader,
  type Values,
} from '@partner-network/common/command-line/options';
import type { Syntax } from '@partner-network/common/command-line/parse';
import { createProgress } from '@partner-network/common/command-line/progress';
import { shortTime } from '@partner-network/common/command-line/table';
import { OperatorError } from '@partner-network/common/errors';
import { isDots } from '@partner-network/common/text';
import { isPast, normalizeTime } from '@partner-network/common/times';
import { lengths } from '@partner-network/contract/limits';
import { databaseConfig, databaseSettings } from '@partner-network/service/settings';
import { type OpenOptions, toRevoke } from '@partner-network/store/address';
import { openStore } from '@partner-network/store/engines';
import {
  AccessDenied,
  AlreadyExists,
  type AuditAction,
  type Author,
  type Store,
  whileLocked,
} from '@partner-network/store/port';
import type { RoleName } from '@partner-network/store/postgres/roles';

export const partnerId = plainText(lengths.partnerId);
export const customerId = plainText(lengths.customerId);

export const takesEffect = 'This takes effect on every instance within a second.';

/** The id of something new. */
export function newIdOf(maxCodePoints: number): Reader<string> {
  const read = plainText(maxCodePoints);
  return (text) => (isDots(text) ? new Problem('must not be . or ..: no address can name it.') : read(text));
}

export const commonOptions = { ...databaseSettings, json: flag('print one JSON document') };

type AllValues<O extends Options> = Values<O & typeof commonOptions>;

/** What a command works with. */
interface Context<O extends Options> {
  readonly store: Store;
  readonly values: AllValues<O>;
  readonly words: readonly string[];
  readonly output: Output;
}

interface DatabaseCommand<O extends Options, C = Context<O>>
  extends Pick<Syntax<O & typeof commonOptions>, 'arguments' | 'conflicts'>,
    Pick<Command, 'ifFailed'> {
  readonly options?: O;
  /** The flag --json, if it does not mean one document. */
  readonly json?: Option<boolean>;
  /** The role of the database that the command needs; `network_support` if absent, which reads. */
  readonly role?: RoleName | 'owner';
  /** What opening the database may do for a long time. On the embedded engine, it blocks the process. */
  readonly longOpening?: string;
  /** How the database is opened. */
  opening?(values: AllValues<O>): OpenOptions;
  /**
   * For a revocation: waits for a locked database without a limit, and reports this sentence, without its
   * end, every few seconds. Undefined if the command with these values revokes nothing.
   */
  notYet?(values: AllValues<O>): string | undefined;
  /** Runs once, before the database is opened, and throws if the operator does not confirm. */
  ask?(values: AllValues<O>, words: readonly string[]): Promise<void>;
  /** Returns the report to print, or prints by itself if the output is too long for memory. */
  // biome-ignore lint/suspicious/noConfusingVoidType: a function that returns nothing fits only void.
  run(context: C): Promise<Report | void>;
}

/** A command that opens the database, and closes it even if it fails. */
export function onDatabase<O extends Options = Record<never, never>>(
  definition: DatabaseCommand<O>,
): Command {
  const { role = 'network_support' } = definition;
  return command({
    arguments: definition.arguments,
    ifFailed: definition.ifFailed,
    options: { ...(definition.options as O), ...commonOptions, json: definition.json ?? commonOptions.json },
    conflicts: (values, words) => definition.conflicts?.(values, words) ?? [],
    run: async (values, words, output) => {
      const common = values as Values<typeof commonOptions>;
      const { database, environment } = databaseConfig(common);
      await definition.ask?.(values, words);
      const notYet = definition.notYet?.(values);
      const options = notYet === undefined ? definition.opening?.(values) : toRevoke;
      const forMs = notYet === undefined ? 0 : Number.POSITIVE_INFINITY;
      const remind = () => output.remark(`${notYet}: ${isLocked}`, 'warning');
      const reminder = notYet === undefined ? undefined : setInterval(remind, commandLineBounds.notYetMs);
      using progress = createProgress(process.stderr, database.engine === 'sqlite' ? 0 : undefined);
      if (definition.longOpening !== undefined) progress.step(definition.longOpening);
      try {
        const store = await whileLocked(() => openStore(database, environment, options), forMs);
        progress.clear();
        try {
          const report = await whileLocked(() => definition.run({ store, values, words, output }), forMs);
          clearInterval(reminder);
          if (report) {
            const text = environment === 'sandbox' ? withSandbox(report.text) : report.text;
            printReport({ ...report, text }, common.json, output);
          }
        } finally {
          await store.close();
        }
      } catch (error) {
        if (!(error instanceof AccessDenied) || role === 'owner') throw error;
        const needed = `This command needs the role ${role}: "partner-network roles" prints its SQL.`;
        throw new OperatorError(`${error.denial} ${needed}`);
      } finally {
        clearInterval(reminder);
      }
    },
  });
}

/** The next step can be pasted. A partner's own commands know no environment. */
function withSandbox(text: string): string {
  return text.replace(/Next: .*"partner-network (?!balances)[^"]*/, '$& --environment sandbox');
}

const isLocked = 'another command, such as an import, locks the database. Waiting until it ends …';

/** Who makes a change, and why. */
const accountable = { actor, reason };

/** A command that changes something. `action` is its name. */
export function changing<O extends Options = Record<never, never>>(
  action: AuditAction,
  definition: DatabaseCommand<O, Context<O> & { readonly by: Author }>,
): Command {
  return onDatabase({
    role: 'network_operate',
    ...definition,
    options: { ...(definition.options as O), ...accountable },
    run: (context) => {
      const { actor, reason } = context.values as Values<typeof accountable>;
      return definition.run({ ...context, by: { actor, action, reason } });
    },
  });
}

/** When something new expires. */
export function expiresAt(what: string): Option<string | undefined> {
  const help = `time at which ${what} expires, such as 2027-01-31T00:00:00Z; without it, never`;
  const read = (text: string) => {
    const time = normalizeTime(text);
    if (time === undefined)
      return new Problem('must be a time in UTC (RFC 3339), such as 2027-01-31T00:00:00Z.');
    return isPast(time) ? new Problem('must be a time in the future.') : time;
  };
  return optional('TIME', read, help);
}

/** Waits for a write. If a record exists already, `message` is reported as an error of the operator. */
export async function explainConflict<Result>(message: string, write: Promise<Result>): Promise<Result> {
  try {
    return await write;
  } catch (error) {
    throw error instanceof AlreadyExists ? new OperatorError(message) : error;
  }
}

/**
 * Reads, before a change, whether a partner is disabled. Returns a function that says how the change ends:
 * what is true of a new key or grant now, and the next step. With --json, only the warning is printed.
 */
export async function endingFor(store: Store, partner: string | undefined, output: Output, isJson: boolean) {
  const found = partner === undefined ? undefined : await store.findPartner(partner);
  return (id: string, expiresAt: string | undefined, next: string): string => {
    if (found?.disabled_at === undefined) return `${worksUntil(id, expiresAt)}\nNext: ${next}`;
    const remedy = `"partner-network partners enable ${partner}"`;
    const sentence = `${id} does not work: partner ${partner} is disabled.\nNext: ${remedy}.`;
    if (isJson) output.remark(sentence, 'warning');
    return sentence;
  };
}

export function worksUntil(id: string, expiresAt: string | undefined): string {
  return `${id} works until ${expiresAt === undefined ? 'it is revoked' : `${shortTime(expiresAt)} UTC`}.`;
}

import { OperatorError } from '../errors.ts';
import { escapeUnprintable } from '../text.ts';
import type { Tone } from './color.ts';
import type { Options, Values } from './options.ts';
import type { Syntax } from './parse.ts';

/** The exit status of a command line with a bad flag, variable or argument. */
export const exitUsage = 2;

export interface Command<O extends Options = Options> extends Syntax<O> {
  /**
   * Printed after an error or an interrupt without a result. It cannot state more than an assumption: if the
   * connection was lost, the database may have done the work.
   */
  readonly ifFailed?: string | undefined;
  /** Throws an OperatorError for a failure that the operator can fix. */
  run(values: Values<O>, words: readonly string[], output: Output): Promise<void>;
}

/** Checks a command's types; the result fits the table of all commands. */
export function command<O extends Options>(definition: Command<O>): Command {
  return definition;
}

/** The result of a command: `value` is printed with --json, `text` without it. */
export interface Report {
  readonly value: unknown;
  readonly text: string;
  /** Why the command failed although it has a result to print. */
  readonly failure?: string | undefined;
}

export function printReport({ value, text, failure }: Report, isJson: boolean, output: Output): void {
  output.answer(isJson ? jsonText(value, 2) : text);
  if (failure !== undefined) throw new OperatorError(failure);
}

/** What a command prints: results to standard output, everything else to standard error. */
export interface Output {
  /** Prints a result, or a part of one, and a line end. */
  answer(text: string): void;
  /** Prints a part of a result that is too long for memory; resolves when there is room for more. */
  write(lines: string): Promise<void>;
  /** Prints a remark on standard error, or, with its tone, a warning or an error. */
  remark(text: string, tone?: Tone): void;
}

/** JSON for standard output. On a terminal, control characters in names are escaped. */
export function shownJson(text: string): string {
  return process.stdout.isTTY ? escapeUnprintable(text) : text;
}

export function jsonText(value: unknown, indent?: number): string {
  return shownJson(JSON.stringify(value, null, indent));
}

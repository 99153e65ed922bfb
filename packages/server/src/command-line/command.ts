import { jsonText } from './json.ts';
import type { Options, Values } from './options.ts';
import type { Output } from './output.ts';

export interface Command<O extends Options = Options> {
  /** Words after the command's name, all of them required. */
  readonly arguments?: readonly { readonly name: string; readonly help: string }[] | undefined;
  readonly options: O;
  /** What is wrong with values and words that are right each for itself, a sentence each. */
  conflicts?(values: Values<O>, words: readonly string[]): string[];
  /** Throws an OperatorError when it fails in a way that a person can mend. */
  run(values: Values<O>, words: readonly string[], output: Output): Promise<void>;
}

/** Gives a command its types; the table of commands holds commands of every kind. */
export function command<O extends Options>(definition: Command<O>): Command {
  return definition;
}

/** With --json one document and nothing else, without it words for a person. */
export function tell(output: Output, asJson: boolean, value: unknown, words: () => string): void {
  output.answer(asJson ? jsonText(value, 2) : words());
}

import { jsonText } from './json.ts';
import type { Options, Values } from './options.ts';
import type { Output } from './output.ts';
import type { Syntax } from './parse.ts';

export interface Command<O extends Options = Options> extends Syntax<O> {
  /** Throws an OperatorError for a failure that the operator can fix. */
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

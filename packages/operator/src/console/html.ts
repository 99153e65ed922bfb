/** Builds HTML. Every value in a template is escaped, except HTML that `html` made. */
import { escapeMarkup } from '@partner-network/common/text';

class Markup {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  toString(): string {
    return this.#text;
  }
}

/** Escaped HTML. Only `html` can create it, because the class is not exported. */
export type Html = Markup;

/** What a template takes. Lists are joined. Undefined and false become an empty text. */
export type Value = Html | string | number | undefined | false | readonly Value[];

export function html(parts: TemplateStringsArray, ...values: readonly Value[]): Html {
  return new Markup(parts.reduce((text, part, index) => text + markupOf(values[index - 1]) + part));
}

function markupOf(value: Value): string {
  if (value === undefined || value === false) return '';
  if (value instanceof Markup) return value.toString();
  return typeof value === 'object' ? value.map(markupOf).join('') : escapeMarkup(String(value));
}

/** What reports show of requests and answers: names, kinds and lengths, and nothing of a real deployment. */
import { printable } from '@partner-network/common/text';
import { keyPrefixPattern } from '@partner-network/contract/environments';
import type { Answer } from './send.ts';
import type { Supplied } from './variables.ts';

const bounds = { characters: 4_000, textCharacters: 1_024, headers: 40, records: 5 };

/** Headers whose values tell nothing about the deployment's data. */
const plainHeaders = new RegExp(
  '^(allow|cache-control|connection|content-(encoding|length|type)|date|transfer-encoding|vary)$|' +
    '^(access-control-|ratelimit|retry-after|www-authenticate|x-content-type-options|x-request-id)',
  'i',
);

/** An amount, or a part of a key, a cursor or an id in any form. A code has capitals only. */
const data = /(?<!\w)\d[\d.,]{3,}\d(?!\w)|(?![A-Z_]+(?!\S))[\w+/=%\\-]{20,}/g;
const keyLike = new RegExp(`${keyPrefixPattern}\\w+`, 'g');

const shownName = (name: string) => (/^[a-z_-]{1,40}$/i.test(name) ? name : '<name>');

const withoutData = (text: string) => cut(text, bounds.textCharacters).replace(data, '<…>');

function cut(text: string, characters: number): string {
  return text.length <= characters ? text : `${text.slice(0, characters)}… (${text.length} characters)`;
}

/** `mask` replaces supplied values by their variables, and anything like a key. It has the last word. */
export function createRedaction(supplied: Supplied) {
  // The longest first: one id may begin with another.
  const longestFirst = Object.entries(supplied).toSorted(([, one], [, other]) => other.length - one.length);
  const values = longestFirst.map(([variable, value]) => {
    const forms = [value, encodeURIComponent(value), JSON.stringify(value).slice(1, -1)];
    const anyForm = `(?:${forms.map(RegExp.escape).join('|')})`;
    // A short id may be a part of any word.
    return [new RegExp(value.length < 6 ? `(?<!\\w)${anyForm}(?!\\w)` : anyForm, 'g'), variable] as const;
  });

  function mask(text: string): string {
    let masked = text;
    for (const [value, variable] of values) masked = masked.replace(value, () => `$${variable}`);
    return cut(printable(masked.replace(keyLike, '[key]')), bounds.characters);
  }

  /** Only limit, type and variables keep their values: any other value may come from the deployment. */
  function shownRequest({ sent }: Answer): string {
    const masked = mask(sent.replaceAll('\r\n', '\n').trimEnd());
    return masked.replace(/(?<=[?&][^=&\s]+=)[^&\s]+/g, (value, at) => {
      const isPlain = /(limit|type)=$/.test(masked.slice(0, at)) || value.startsWith('$');
      return isPlain ? value : `<${value.length} characters>`;
    });
  }

  return { mask, shownRequest, shownAnswer: (answer: Answer) => mask(withKinds(answer)) };
}

/** An answer with kinds in place of values. Only errors keep their texts. */
function withKinds({ status, failure, rawHeaders, body, json }: Answer): string {
  if (failure !== undefined) return `No whole answer (${failure}).`;
  const headers = rawHeaders.slice(0, 2 * bounds.headers).map((part, index) => {
    if (index % 2 === 0) return `\n${shownName(part)}: `;
    return plainHeaders.test(rawHeaders[index - 1]!) ? withoutData(part) : `<${part.length} characters>`;
  });
  const shown = json === undefined ? `<not JSON, ${body.length} bytes>` : kindsOf(json, status >= 400);
  return `${status}${headers.join('')}${body.length === 0 ? '' : `\n\n${shown}`}`;
}

const errorFields = ['category', 'code', 'detail', 'field'];

/** JSON with the names of fields and the kinds of values, and the first records of a list. */
function kindsOf(json: unknown, isError: boolean): string {
  const kindOf = (name: string, value: unknown) => {
    if (Array.isArray(value)) return value.slice(0, bounds.records);
    // Names of metadata are data.
    if (name === 'metadata') return '<object>';
    if (typeof value === 'object' && value !== null)
      return Object.fromEntries(Object.entries(value).map(([field, item]) => [shownName(field), item]));
    if (typeof value === 'string' && isError && errorFields.includes(name)) return withoutData(value);
    return value === null || value === '' ? value : `<${Number.isInteger(value) ? 'integer' : typeof value}>`;
  };
  try {
    return JSON.stringify(json, kindOf, 2).replace(/"(<\w+>)"/g, '$1');
  } catch {
    return '<JSON that is too deep>';
  }
}

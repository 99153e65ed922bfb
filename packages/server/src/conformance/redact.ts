/** What reports show of requests and answers: names, kinds and lengths, and nothing of a real deployment. */
import { keyPrefixPattern } from '@partner-network/contract/environments';
import type { Answer, Given } from './case.ts';

const bounds = { characters: 4_000, textCharacters: 1_024, headers: 40, entries: 100, depth: 6 };

/** Headers whose values tell nothing about the deployment's data. */
const plainHeaders = new RegExp(
  '^(allow|cache-control|connection|content-(encoding|length|type)|date|transfer-encoding|vary)$|' +
    '^(access-control-|ratelimit|retry-after|www-authenticate|x-content-type-options|x-request-id)',
  'i',
);

/** An amount, or a part of a key, a cursor or an id in any form. A code has capitals only. */
const data = /(?<!\w)\d[\d.,]{3,}\d(?!\w)|(?![A-Z_]+(?!\S))[\w+/=%\\-]{20,}/g;
const keyLike = new RegExp(`${keyPrefixPattern}\\w+`, 'g');
/** Control characters but the line feed, invisible characters, text direction marks, lone surrogates. */
const unprintable =
  /[\0-\t\v-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069]|\p{Surrogate}/gu;

const withoutData = (text: string) => cut(text, bounds.textCharacters).replace(data, '<…>');

function cut(text: string, characters: number): string {
  return text.length <= characters ? text : `${text.slice(0, characters)}… (${text.length} characters)`;
}

/** `mask` replaces given values by their variables, and anything like a key. It has the last word. */
export function createRedaction(given: Given) {
  const values = Object.entries(given).map(([variable, value]) => {
    const forms = [value, encodeURIComponent(value), JSON.stringify(value).slice(1, -1)];
    const anyForm = `(?:${forms.map(RegExp.escape).join('|')})`;
    // A short id may be a part of any word.
    return [new RegExp(value.length < 6 ? `(?<!\\w)${anyForm}(?!\\w)` : anyForm, 'g'), variable] as const;
  });

  function mask(text: string): string {
    let masked = text;
    for (const [value, variable] of values) masked = masked.replace(value, () => `$${variable}`);
    return cut(masked.replace(keyLike, '[key]').replace(unprintable, '\ufffd'), bounds.characters);
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
function withKinds({ status, fault, rawHeaders, body, json }: Answer): string {
  if (fault !== undefined) return `No whole answer (${fault}).`;
  const headers = rawHeaders.slice(0, 2 * bounds.headers).map((part, index) => {
    if (index % 2 === 0) return `\n${withoutData(part)}: `;
    return plainHeaders.test(rawHeaders[index - 1]!) ? withoutData(part) : `<${part.length} characters>`;
  });
  const shown = json === undefined ? `<not JSON, ${body.length} bytes>` : kindOf(json, status >= 400);
  return `${status}${headers.join('')}${body.length === 0 ? '' : `\n\n${shown}`}`;
}

const errorFields = ['category', 'code', 'detail', 'field'];

/** The kind of a value, as JSON. Equal kinds in a list are counted, so that a different record stands out. */
function kindOf(value: unknown, isError: boolean, field = '', indent = '\n'): string {
  if (typeof value === 'string' && isError && errorFields.includes(field))
    return JSON.stringify(withoutData(value));
  if (typeof value === 'string') return value === '' ? '""' : '<string>';
  if (typeof value === 'number') return Number.isInteger(value) ? '<integer>' : '<number>';
  if (typeof value !== 'object' || value === null) return String(value);
  const isList = Array.isArray(value);
  const [open, close] = isList ? '[]' : '{}';
  // Names of metadata are data.
  if (field === 'metadata' || indent.length > 2 * bounds.depth) return `${open}…${close}`;
  const names = Object.keys(value);
  const inner = `${indent}  `;
  const counts = new Map<string, number>();
  for (const name of names.slice(0, bounds.entries)) {
    const kind = kindOf((value as Record<string, unknown>)[name], isError, name, inner);
    const line = isList ? kind : `${/^[a-z_]{1,40}$/i.test(name) ? `"${name}"` : '<field>'}: ${kind}`;
    counts.set(line, (counts.get(line) ?? 0) + 1);
  }
  const lines = [...counts].map(([line, count]) => inner + (count > 1 ? `${count} × ` : '') + line);
  if (names.length > bounds.entries) lines.push(`${inner}…`);
  return `${open}${lines.join(',')}${lines.length > 0 ? indent : ''}${close}`;
}

/** What reports show of requests and answers: names, kinds and lengths, and nothing of a real deployment. */
import { keyPrefixPattern } from '@partner-network/contract/environments';
import type { Answer, Given } from './case.ts';

const mostCharacters = 4_000;
const mostHeaders = 40;
const mostHeaderCharacters = 200;
const mostDepth = 8;
const mostFields = 40;

/** Parameters whose values come from the cases. Any other value may come from the deployment. */
const plainParameters = new Set(['limit', 'type']);

/** A path and query with variables or lengths in place of values. */
export function shownTarget(target: string, given: Given): string {
  const [path = '', ...rest] = target.split('?');
  if (rest.length === 0) return path;
  const parts = rest
    .join('?')
    .split('&')
    .map((part) => {
      const [name = '', ...values] = part.split('=');
      const value = values.join('=');
      if (value === '' || plainParameters.has(name)) return part;
      const variable = Object.entries(given).find(([, text]) => encodeURIComponent(text) === value)?.[0];
      return `${name}=${variable === undefined ? `<${value.length} characters>` : `$${variable}`}`;
    });
  return `${path}?${parts.join('&')}`;
}

/** Headers whose values are the same for every partner, or harmless. */
const plainHeaders = new RegExp(
  '^(allow|cache-control|connection|content-(encoding|length|type)|date|transfer-encoding|vary)$|' +
    '^(access-control-|ratelimit|retry-after|www-authenticate|x-content-type-options|x-request-id)',
  'i',
);

/** An answer with kinds in place of values. Only errors keep their texts. */
export function shownAnswer({ status, fault, rawHeaders, text, json }: Answer): string {
  if (fault !== undefined) return `No whole answer (${fault}).`;
  const headers: string[] = [];
  for (let index = 0; index < rawHeaders.length && headers.length < mostHeaders; index += 2) {
    const [name = '', value = ''] = rawHeaders.slice(index, index + 2);
    const shown = plainHeaders.test(name) ? cut(value, mostHeaderCharacters) : `<${value.length} characters>`;
    headers.push(`${cut(name, mostHeaderCharacters)}: ${shown}`);
  }
  const isError = status >= 400;
  const body = json === undefined ? bodyKind(text) : kindOf(json, isError, '', 0);
  return [String(status), ...headers, '', body].join('\n').trimEnd();
}

function bodyKind(text: string): string {
  return text === '' ? '' : `<not JSON, ${text.length} characters>`;
}

const errorFields = new Set(['category', 'code', 'detail', 'field']);

/** The kind of a value. Equal kinds in a list are counted, so that the one record that differs is seen. */
function kindOf(value: unknown, isError: boolean, field: string, depth: number): string {
  if (typeof value === 'string') {
    if (isError && errorFields.has(field)) return JSON.stringify(withoutNumbers(cut(value, 1_024)));
    return value === '' ? '""' : '<string>';
  }
  if (typeof value === 'number') return Number.isInteger(value) ? '<integer>' : '<number>';
  if (typeof value !== 'object' || value === null) return String(value);
  const indent = '  '.repeat(depth + 1);
  const lines = Array.isArray(value)
    ? itemKinds(value, isError, depth)
    : fieldKinds(value as Readonly<Record<string, unknown>>, isError, field, depth);
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
  if (lines.length === 0) return open + close;
  if (depth >= mostDepth) return `${open}…${close}`;
  return `${open}\n${lines.map((line) => indent + line).join(',\n')}\n${'  '.repeat(depth)}${close}`;
}

function itemKinds(items: readonly unknown[], isError: boolean, depth: number): string[] {
  if (depth >= mostDepth) return ['…'];
  const counts = new Map<string, number>();
  for (const item of items) {
    const kind = kindOf(item, isError, '', depth + 1);
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  return [...counts].slice(0, mostFields).map(([kind, count]) => (count === 1 ? kind : `${count} × ${kind}`));
}

/** Names of metadata, and names that do not look like those of an API, may be data. */
function fieldKinds(
  fields: Readonly<Record<string, unknown>>,
  isError: boolean,
  field: string,
  depth: number,
): string[] {
  if (depth >= mostDepth) return ['…'];
  const names = Object.keys(fields);
  if (field === 'metadata') return names.length === 0 ? [] : [`<${names.length} fields>`];
  return names.slice(0, mostFields).map((name) => {
    const shown = /^[a-z_]{1,40}$/i.test(name) ? JSON.stringify(name) : '<field>';
    return `${shown}: ${kindOf(fields[name], isError, name, depth + 1)}`;
  });
}

/** An error's sentence needs no numbers beyond the limits of the API, so a longer one may be an amount. */
function withoutNumbers(text: string): string {
  return text.replace(/\d{5,}/g, '<number>');
}

function cut(text: string, characters: number): string {
  return text.length <= characters ? text : `${text.slice(0, characters)}… (${text.length} characters)`;
}

const keyLike = new RegExp(`${keyPrefixPattern}[0-9A-Za-z]+`, 'g');
const controls =
  /[\0-\t\v-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069]|\p{Surrogate}/gu;
/** A part of a key of this length is masked, wherever it stands. */
const keyPart = 12;

/** Forms in which a service may repeat a key. */
const encodings: readonly ((key: Buffer) => string)[] = [
  (key) => key.toString('latin1'),
  (key) => key.toString('latin1').split('').reverse().join(''),
  (key) => key.toString('hex'),
  (key) => key.toString('hex').toUpperCase(),
  (key) => key.toString('hex').replace(/../g, '%$&'),
  (key) => key.toString('hex').toUpperCase().replace(/../g, '%$&'),
  (key) => key.toString('hex').replace(/../g, '\\u00$&'),
  ...[0, 1, 2].map((skipped) => (key: Buffer) => key.subarray(skipped).toString('base64url')),
];

/** The last pass over a text of the report: masks given values in any form, and anything like a key. */
export function createMask(given: Given): (text: string) => string {
  const parts = new Set<string>();
  const ids: [RegExp, string][] = [];
  for (const [variable, value] of Object.entries(given)) {
    if (variable.endsWith('_KEY')) {
      for (const encode of encodings) {
        const form = encode(Buffer.from(value));
        for (let at = 0; at + keyPart <= form.length; at += 1) parts.add(form.slice(at, at + keyPart));
      }
    } else {
      const forms = [value, encodeURIComponent(value), JSON.stringify(value).slice(1, -1)];
      const anyForm = forms.map((form) => RegExp.escape(form)).join('|');
      // A short id may be a part of any word.
      ids.push([
        new RegExp(value.length < 6 ? `(?<!\\w)(?:${anyForm})(?!\\w)` : anyForm, 'g'),
        `$${variable}`,
      ]);
    }
  }
  return (text) => {
    let masked = maskParts(text, parts).replace(keyLike, '[key]');
    for (const [pattern, shown] of ids) masked = masked.replace(pattern, () => shown);
    return cut(masked.replace(controls, '\ufffd'), mostCharacters);
  };
}

function maskParts(text: string, parts: ReadonlySet<string>): string {
  let masked = '';
  let hiddenUntil = 0;
  for (let at = 0; at < text.length; at += 1) {
    if (parts.has(text.slice(at, at + keyPart))) {
      if (at >= hiddenUntil) masked += '[key]';
      hiddenUntil = at + keyPart;
    }
    if (at >= hiddenUntil) masked += text[at];
  }
  return masked;
}

/** What reports show of requests and answers: names, kinds and lengths, and nothing of a real deployment. */
import { keyPrefixPattern } from '@partner-network/contract/environments';
import type { Answer, Given } from './case.ts';

const bounds = {
  characters: 4_000,
  headers: 40,
  headerCharacters: 200,
  errorCharacters: 1_024,
  fields: 40,
  depth: 6,
};

/** Parameters whose values come from the cases. Any other value may come from the deployment. */
const plainParameters = /^(limit|type)=/;

/** A path and query with variables or lengths in place of values. */
export function shownTarget(target: string, given: Given): string {
  return target.replace(/(?<=[?&])[^&]+/g, (pair) => {
    const [name, value] = pair.split(/=(.*)/s);
    if (!value || plainParameters.test(pair)) return pair;
    const [variable] = Object.entries(given).find(([, text]) => encodeURIComponent(text) === value) ?? [];
    return `${name}=${variable === undefined ? `<${value.length} characters>` : `$${variable}`}`;
  });
}

/** Headers whose values tell nothing about the deployment's data. */
const plainHeaders = new RegExp(
  '^(allow|cache-control|connection|content-(encoding|length|type)|date|transfer-encoding|vary)$|' +
    '^(access-control-|ratelimit|retry-after|www-authenticate|x-content-type-options|x-request-id)',
  'i',
);

/** An answer with kinds in place of values. Only errors keep their texts. */
export function shownAnswer({ status, fault, rawHeaders, text, json }: Answer): string {
  if (fault !== undefined) return `No whole answer (${fault}).`;
  const lines = rawHeaders.slice(0, 2 * bounds.headers).map((part, index) => {
    if (index % 2 === 0) return `\n${cut(part, bounds.headerCharacters)}: `;
    const isPlain = plainHeaders.test(rawHeaders[index - 1]!);
    return isPlain ? cut(part, bounds.headerCharacters) : `<${part.length} characters>`;
  });
  const isEmpty = text === '' && json === undefined;
  const body = json === undefined ? `<not JSON, ${text.length} characters>` : kindOf(json, status >= 400);
  return `${status}${lines.join('')}${isEmpty ? '' : `\n\n${body}`}`;
}

/** A number or word of an error that is so long may be an amount, a cursor or an id. */
const data = /(?<!\w)\d[\d.,]{3,}\d(?!\w)|(?=\S*\d)[\w+/=-]{20,}/g;
const errorFields = new Set(['category', 'code', 'detail', 'field']);

/** The kind of a value, as JSON. Equal kinds in a list are counted, so that a different record stands out. */
function kindOf(value: unknown, isError: boolean, field = '', indent = '\n'): string {
  if (typeof value === 'string' && isError && errorFields.has(field))
    return JSON.stringify(cut(value, bounds.errorCharacters).replace(data, '<…>'));
  if (typeof value === 'string') return value === '' ? '""' : '<string>';
  if (typeof value === 'number') return Number.isInteger(value) ? '<integer>' : '<number>';
  if (typeof value !== 'object' || value === null) return String(value);
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
  const entries = Object.entries(value);
  if (entries.length === 0) return `${open}${close}`;
  // Names of metadata are data.
  if (field === 'metadata' || indent.length > 2 * bounds.depth) return `${open} <${entries.length}> ${close}`;
  const inner = `${indent}  `;
  const counts = new Map<string, number>();
  for (const [name, item] of entries) {
    const shownName = /^[a-z_]{1,40}$/i.test(name) ? `"${name}"` : '<field>';
    const kind = kindOf(item, isError, name, inner);
    const line = Array.isArray(value) ? kind : `${shownName}: ${kind}`;
    counts.set(line, (counts.get(line) ?? 0) + 1);
  }
  const lines = [...counts].slice(0, bounds.fields);
  return (
    open + lines.map(([line, count]) => inner + (count > 1 ? `${count} × ` : '') + line) + indent + close
  );
}

function cut(text: string, characters: number): string {
  return text.length <= characters ? text : `${text.slice(0, characters)}… (${text.length} characters)`;
}

const keyLike = new RegExp(`${keyPrefixPattern}[0-9A-Za-z]+`, 'g');
/** Values that no report shows, in raw requests and in errors. */
const ofPages = /\b(cursor|reference_id)=(?![<$])[^&\s]+/g;
/** Control characters but the line feed, invisible characters, text direction marks, lone surrogates. */
const unprintable =
  /[\0-\t\v-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069]|\p{Surrogate}/gu;
/** A part of a key with this many characters is masked, wherever it stands. */
const keyPart = 12;

/** The forms in which a service may repeat a key. */
function formsOf(value: string): string[] {
  const key = Buffer.from(value);
  const hex = key.toString('hex');
  const escaped = [hex, hex.replace(/../g, '%$&'), hex.replace(/../g, '\\u00$&')];
  const base64 = [0, 1, 2].map((skipped) => key.subarray(skipped).toString('base64'));
  const base64url = base64.map((form) => form.replaceAll('+', '-').replaceAll('/', '_'));
  const upper = escaped.map((form) => form.toUpperCase());
  return [value, [...value].reverse().join(''), ...escaped, ...upper, ...base64, ...base64url];
}

/** The last pass over a text of the report: masks given values in any form, and anything like a key. */
export function createMask(given: Given): (text: string) => string {
  const parts = new Set<string>();
  const ids: [RegExp, string][] = [];
  for (const [variable, value] of Object.entries(given)) {
    if (variable.endsWith('_KEY')) {
      for (const form of formsOf(value))
        for (let at = keyPart; at <= form.length; at += 1) parts.add(form.slice(at - keyPart, at));
      continue;
    }
    const forms = [value, encodeURIComponent(value), JSON.stringify(value).slice(1, -1)];
    const anyForm = `(?:${forms.map(RegExp.escape).join('|')})`;
    // A short id may be a part of any word.
    ids.push([new RegExp(value.length < 6 ? `(?<!\\w)${anyForm}(?!\\w)` : anyForm, 'g'), `$${variable}`]);
  }
  return (report) => {
    const text = report.replace(keyLike, '[key]').replace(ofPages, '$1=<…>');
    let masked = '';
    for (let at = 0, hiddenUntil = 0; at < text.length; at += 1) {
      const isHidden = at < hiddenUntil;
      if (parts.has(text.slice(at, at + keyPart))) hiddenUntil = at + keyPart;
      if (!isHidden) masked += at < hiddenUntil ? '[key]' : text[at];
    }
    for (const [pattern, variable] of ids) masked = masked.replace(pattern, () => variable);
    return cut(masked.replace(unprintable, '\ufffd'), bounds.characters);
  };
}

/** What reports show of requests and answers: names, kinds and lengths, and nothing of a real deployment. */
import { escapeMarkup as escaped, printable } from '@partner-network/common/text';
import { keyPrefixPattern } from '@partner-network/contract/environments';
import { isObject, typeOf } from './json.ts';
import type { Supplied } from './probe.ts';
import type { Answer } from './send.ts';

/** One case of the report, as --json prints it. Nothing of a real deployment stands in it. */
export interface CaseResult {
  readonly id: string;
  readonly section: string;
  readonly title: string;
  readonly status: 'passed' | 'failed' | 'skipped' | 'expected';
  /** Of a failed case. */
  readonly request?: string;
  readonly answer?: string;
  readonly expected?: string;
  /** Of a skipped case: the message of its `Skip`. */
  readonly variable?: string;
}

/** What a failed case expected, sent and got. */
export function failureOf({ expected, request, answer }: CaseResult): string {
  return `Expected ${expected}\n\n${request}\n\n${answer}`;
}

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
    if (isObject(value))
      return Object.fromEntries(Object.entries(value).map(([field, item]) => [shownName(field), item]));
    if (typeof value === 'string' && isError && errorFields.includes(name)) return withoutData(value);
    return value === null || value === '' ? value : `<${typeOf(value)}>`;
  };
  try {
    return JSON.stringify(json, kindOf, 2).replace(/"(<\w+>)"/g, '$1');
  } catch {
    return '<JSON that is too deep>';
  }
}

const style = `
:root { color-scheme: light dark; }
h1 { font-size: 1.4rem; }
body { margin: 0 auto; padding: 1rem; max-width: 68rem; font: 1rem/1.5 system-ui, sans-serif;
  overflow-wrap: anywhere; color: light-dark(#1b1f27, #e6e9ef); background: light-dark(#fff, #12151a); }
table { border-collapse: collapse; width: 100%; table-layout: fixed; }
td { vertical-align: top; padding: .35rem; border-top: 1px solid light-dark(#d5d9e0, #3a404b); }
td:first-child { width: 5rem; }
pre { padding: .75rem; background: light-dark(#f4f6f9, #1c2027); white-space: pre-wrap; }
.passed { color: light-dark(#1a6b34, #6fd28c); } .skipped { color: light-dark(#555c69, #a6adba); }
.failed { color: light-dark(#b3261e, #ff8a80); } .expected { color: light-dark(#7a5200, #f2c14e); }
`;

/**
 * The report as one page that needs no network and no scripts: lines of text, and then the cases, first
 * those that failed.
 */
export function htmlOf([verdict = '', ...lines]: readonly string[], cases: readonly CaseResult[]): string {
  const row = (result: CaseResult) => {
    const { id, section, title, status, variable, expected } = result;
    const needs = variable === undefined ? '' : `<br>Needs <code>${escaped(variable)}</code>`;
    const failure = expected === undefined ? '' : `<pre>${escaped(failureOf(result))}</pre>`;
    return `<tr><td class="${status}">${status}</td>
<td><code>${escaped(id)}</code> (${escaped(section)})<br>${escaped(title)}${needs}${failure}</td></tr>`;
  };
  const isFailed = ({ expected }: CaseResult) => expected !== undefined;
  const rows = [...cases.filter(isFailed), ...cases.filter((one) => !isFailed(one))].map(row);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${escaped(verdict)}</title>
<style>${style}</style>
</head>
<body>
<h1>${escaped(verdict)}</h1>
${lines.map((line) => `<p>${escaped(line)}</p>`).join('\n')}
<table>
${rows.join('\n')}
</table>
</body>
</html>
`;
}

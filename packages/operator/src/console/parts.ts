/** Pieces of pages: texts, times, marks, tables and links. */
import { type AdminOperationId, adminOperations } from '@partner-network/contract/admin/operations';
import { type Html, html, type Value } from './html.ts';
import type { Texts, Visit } from './visit.ts';

/** The address of a page. Ids are percent-encoded. */
export function pathTo(...segments: readonly string[]): string {
  return ['/console', ...segments.map(encodeURIComponent)].join('/');
}

/** A text from outside, which may be in any script and direction. */
export const text = (value: string): Html => html`<bdi>${value}</bdi>`;

/** A text that may break after `_`, and is copied unchanged. */
const breaking = (value: string): Value =>
  value.split('_').map((part, at) => (at === 0 ? part : html`_<wbr>${part}`));

/** An id or a code. */
export const code = (value: string): Html => html`<code><bdi>${breaking(value)}</bdi></code>`;

/** Whether a browser can open an address. It takes the ids `.` and `..` of old records for folders. */
export const isPage = (path: string): boolean => !/\/\.\.?(?:[/?]|$)/.test(path);

const link = (path: string, label: Html): Html =>
  isPage(path)
    ? html`<a href="${path}">${label}</a>`
    : html`${label} (only the command line can name this id)`;

/** An address with a query. */
export const addressOf = (path: string, query: Texts) => `${path}?${new URLSearchParams(query)}`;

export const linkTo = (path: string, label: string, query?: Texts): Html =>
  link(query === undefined ? path : addressOf(path, query), text(label));

/** Links to the same list with each of these values, which have labels. The current one is marked. */
export function choices(
  path: string,
  query: Texts,
  name: string,
  values: Readonly<Record<string, readonly [label: string, ...unknown[]]>>,
  current = '',
): Html {
  const links = Object.entries(values).map(([value, [label]]) => {
    const isCurrent = value === current && html` aria-current="true"`;
    return html`<a href="${addressOf(path, { ...query, [name]: value })}"${isCurrent}>${label}</a>\n`;
  });
  return html`<p class="actions">${name === 'sort' && 'Sort by '}${links}</p>`;
}

/** An id that leads to its page. */
export const idLink = (kind: string, id: string): Html => link(pathTo(kind, id), code(id));

/** A change that a page offers. Its button leads to a page that asks before it changes anything. */
type Offer = readonly [id: AdminOperationId, path: string, label: string, isDanger?: 'danger'];

/** The buttons of changes. A person without the role for one reads which role has it. */
export function offers({ may }: Visit, changes: readonly (Offer | false)[]): Html {
  const offered = changes.filter((change) => change !== false);
  const buttons = offered.map(
    ([id, path, label, danger]) => may(id) && html`<a class="button ${danger}" href="${path}">${label}</a>\n`,
  );
  const others = offered.filter(([id]) => !may(id));
  const asked = [...Map.groupBy(others, ([id]) => adminOperations[id].permission)].map(([role, left]) => {
    const verbs = alternatives.format(left.map(([, , label]) => label.toLowerCase()));
    return html`<span class="hint">Ask ${role === 'SUPPORT' && 'SUPPORT or '}an ADMIN to ${verbs}.</span>\n`;
  });
  return html`<p class="actions">${buttons}${asked}</p>`;
}

const lengths: readonly (readonly [Intl.RelativeTimeFormatUnit, ms: number])[] = [
  ['year', 365 * 86_400_000],
  ['month', 30 * 86_400_000],
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1_000],
];
const alternatives = new Intl.ListFormat('en-GB', { type: 'disjunction' });
const relative = new Intl.RelativeTimeFormat('en');

/** Such as "3 minutes ago" or "in 14 days". Of less than two, the smaller unit: "90 seconds ago". */
export function fromNow(at: string): string {
  const ms = Date.parse(at) - Date.now();
  const [unit, length] = lengths.find(([, length]) => Math.abs(ms) >= 2 * length) ?? lengths.at(-1)!;
  return relative.format(Math.round(ms / length), unit);
}

/** A stored time, also from now. Its column or its label says that it is in UTC. */
export function time(at: string | undefined, none: Value = '–'): Html {
  if (at === undefined || Number.isNaN(Date.parse(at))) return html`${none}`;
  return html`<time datetime="${at}">${at.slice(0, 10)} ${at.slice(11, 19)}</time>
<span class="ago">${fromNow(at)}</span>`;
}

const tones: Readonly<Record<string, string>> = {
  active: 'good',
  enabled: 'good',
  ok: 'good',
  GRANTED: 'good',
  revoked: 'bad',
  disabled: 'bad',
  failed: 'bad',
  expired: 'faint',
  consumed: 'faint',
  skipped: 'faint',
  warning: 'warn',
};

/** A state with its color. The word alone says the same. */
export function mark(state: string): Html {
  return html`<span class="mark ${tones[state] ?? tones[state.toLowerCase()] ?? 'bad'}">${state}</span>`;
}

/**
 * A table that scrolls on its own where it is wider than the page, also by keyboard. On a phone its rows are
 * stacked: the roles keep it a table for readers who hear it. Columns of numbers are aligned right.
 */
export function table(
  label: string,
  columns: readonly string[],
  rows: readonly (readonly Value[])[],
  empty: Value,
  sorted?: readonly [column: string, order: 'ascending' | 'descending'],
): Html {
  if (rows.length === 0) return html`<p class="empty">${empty}</p>`;
  const kinds = columns.map(
    (_, at) => rows.some((cells) => typeof cells[at] === 'number') && html` class="count"`,
  );
  const head = columns.map((column, at) => {
    const sort = sorted?.[0] === column && html` aria-sort="${sorted[1]}"`;
    return html`<th role="columnheader" scope="col"${kinds[at]}${sort}>${breaking(column)}</th>`;
  });
  const body = rows.map((cells) => {
    const row = cells.map((cell, at) => {
      const shown = typeof cell === 'number' ? cell.toLocaleString('en') : cell;
      // A style sheet shows the label, which breaks only at a space of no width.
      const name = columns[at]?.replaceAll('_', '_\u200b');
      return html`<td role="cell"${kinds[at]} data-label="${name}"><div>${shown}</div></td>`;
    });
    return html`<tr role="row">${row}</tr>\n`;
  });
  return html`<div class="scroll" role="region" tabindex="0" aria-label="${label}">
<table role="table"><thead role="rowgroup"><tr role="row">${head}</tr></thead><tbody role="rowgroup">
${body}</tbody></table></div>`;
}

/** The fields of a record. A field without a value is left out. */
export function facts(pairs: readonly (readonly [name: string, value: Value])[]): Html {
  const given = pairs.filter(([, value]) => value !== undefined && value !== false);
  return html`<dl class="facts">${given.map(
    ([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`,
  )}</dl>`;
}

/** The link to the next page of a list. The first page is reached without a cursor. */
export function pager(path: string, query: Texts, name: string, cursor: string | undefined): Html {
  const to = (value: string | undefined) => {
    const { done: _, [name]: _current, ...others } = query;
    const next = new URLSearchParams({ ...others, ...(value !== undefined && { [name]: value }) });
    return next.size === 0 ? path : `${path}?${next}`;
  };
  const isFirst = query[name] === undefined;
  if (isFirst && cursor === undefined) return html``;
  return html`<p class="pager">${!isFirst && html`<a href="${to(undefined)}">First page</a>`}
${cursor !== undefined && html`<a href="${to(cursor)}">Next page</a>`}</p>`;
}

/** Links to a list as files. */
export function downloads(list: string, filters: Texts, what: string): Html {
  const fileOf = (form: string) => `${pathTo(list)}.${form}?${new URLSearchParams(filters)}`;
  return html`<p class="downloads">Download all ${what} as <a href="${fileOf('csv')}">CSV</a> or
<a href="${fileOf('jsonl')}">JSON Lines</a></p>`;
}

/** The page of a list that is counted as a whole. */
export const pageNumber = (given = '1'): number => Math.max(1, Math.trunc(Number(given)) || 1);

export const plural = (count: number, one: string, many = `${one}s`): string =>
  `${count.toLocaleString('en')} ${count === 1 ? one : many}`;

/** A browser sends a time without seconds and zone. */
const localTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d)?$/;

export function utcOf(given: string): string {
  return localTime.test(given) ? `${given}${given.length === 16 ? ':00' : ''}Z` : given;
}

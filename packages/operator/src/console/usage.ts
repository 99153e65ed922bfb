/** What a partner or a key was answered: charts, and why it was refused. */
import { type ErrorCode, errorCatalogue } from '@partner-network/contract/errors';
import type { UsageCount } from '@partner-network/store/port';
import { type Html, html, type Value } from './html.ts';
import { code, idLink, linkTo, pathTo, plural, table } from './parts.ts';
import type { Visit } from './visit.ts';

interface Span {
  readonly title: string;
  readonly unit: 'hour' | 'day';
  /** The beginnings of the hours or days, oldest first. */
  readonly starts: readonly string[];
}

const lengthMs = { hour: 3_600_000, day: 86_400_000 };

/** The last hours or days of UTC, the current one included. */
function spanOf(title: string, unit: Span['unit'], count: number, nowMs: number): Span {
  const last = nowMs - (nowMs % lengthMs[unit]);
  const starts = Array.from({ length: count }, (_, index) =>
    new Date(last - (count - 1 - index) * lengthMs[unit]).toISOString(),
  );
  return { title, unit, starts };
}

/** Codes with a color of their own. The rest shares one. */
const colors = 6;
const rest = 'other codes';

/** The least height of refusals, so that a single one is visible. The highest bar has 100. */
const least = 1.5;

interface Series {
  readonly code: string;
  /** The variable of the stylesheet that has its color. */
  readonly color: string;
  readonly total: number;
  /** The count of each hour or day by its beginning. */
  readonly counts: ReadonlyMap<string, number>;
}

/** The codes of refusals, the most frequent first. */
function rankedCodes(usage: readonly UsageCount[]): string[] {
  const totals = new Map<string, number>();
  for (const { code, count } of usage) totals.set(code, (totals.get(code) ?? 0) + count);
  totals.delete('OK');
  return [...totals].toSorted(([, one], [, other]) => other - one).map(([code]) => code);
}

/** Refusals first, at the bottom of a bar, then what was answered. */
function seriesOf(usage: readonly UsageCount[], ranked: readonly string[]): Series[] {
  const own = ranked.slice(0, colors);
  const shownName = ({ code }: UsageCount) => (code === 'OK' || own.includes(code) ? code : rest);
  const byName = Map.groupBy(usage, shownName);
  return [...own, rest, 'OK'].flatMap((name, index) => {
    const shown = byName.get(name);
    if (shown === undefined) return [];
    const counts = new Map<string, number>();
    for (const { from, count } of shown) counts.set(from, (counts.get(from) ?? 0) + count);
    const color = name === 'OK' ? 'ok' : `code-${name === rest ? 'rest' : index}`;
    return { code: name, color, total: shown.reduce((sum, { count }) => sum + count, 0), counts };
  });
}

/** `ranked` gives the codes their colors, so that charts side by side have the same. */
function chart({ title, unit, starts }: Span, usage: readonly UsageCount[], ranked: readonly string[]): Html {
  const series = seriesOf(usage, ranked);
  const heading = html`<h3>${title}</h3>`;
  if (series.length === 0)
    return html`<section class="chart">${heading}<p class="empty">No answers.</p></section>`;
  const sumOf = (start: string) => series.reduce((sum, { counts }) => sum + (counts.get(start) ?? 0), 0);
  const highest = Math.max(...starts.map(sumOf));
  const bars = starts.map((start, index) => barOf(series, start, index, highest, unit));
  const totals = series.map(({ code, total }) => `${total} ${code}`).join(', ');
  const ticks = starts.filter((_, index) => index % Math.ceil(starts.length / 6) === 0);
  return html`<section class="chart">${heading}
<p class="hint">The highest ${unit} has ${plural(highest, 'answer')}.</p>
<svg viewBox="0 0 ${starts.length * 10} 100" preserveAspectRatio="none" role="img"
aria-label="${title}: ${totals}">${bars}</svg>
<p class="axis" aria-hidden="true">${ticks.map((start) => html`<span>${labelOf(start, unit)}</span>`)}</p>
<ul class="legend">${series.map(
    ({ code, color, total }) => html`<li>${swatch(color)}${code} <b>${total.toLocaleString('en')}</b></li>`,
  )}</ul>
${numbersOf(title, unit, starts, series)}</section>`;
}

const swatch = (color: string) => html`<svg class="swatch" aria-hidden="true">
<rect fill="var(--${color})" width="100%" height="100%"/></svg>`;

function barOf(series: readonly Series[], start: string, index: number, highest: number, unit: Span['unit']) {
  const present = series.filter(({ counts }) => counts.has(start));
  let top = 100;
  const parts = present.map(({ color, counts }) => {
    const height = (counts.get(start)! / highest) * 100;
    const shown = Math.min(top, color === 'ok' ? height : Math.max(least, height));
    top -= shown;
    return html`<rect fill="var(--${color})" x="${index * 10 + 1}" y="${top.toFixed(1)}" width="8"
height="${shown.toFixed(1)}"/>`;
  });
  const said = present.map(({ code, counts }) => `${counts.get(start)} ${code}`).join(', ');
  return html`<g><title>${labelOf(start, unit)}: ${said || 'none'}</title>${parts}</g>`;
}

function labelOf(start: string, unit: Span['unit']): string {
  return unit === 'hour' ? start.slice(11, 16) : start.slice(5, 10);
}

function numbersOf(title: string, unit: Span['unit'], starts: readonly string[], series: readonly Series[]) {
  const busy = starts.filter((start) => series.some(({ counts }) => counts.has(start))).toReversed();
  const rows = busy.map((start) => [
    `${start.slice(0, 10)}${unit === 'hour' ? ` ${start.slice(11, 16)}` : ''}`,
    ...series.map(({ counts }) => (counts.get(start) ?? 0).toLocaleString('en')),
  ]);
  const columns = [`${unit === 'hour' ? 'Hour' : 'Day'} (UTC)`, ...series.map(({ code }) => code)];
  return html`<details><summary>The numbers as a table</summary>
${table(`${title}, numbers`, columns, rows, '')}</details>`;
}

/** Counts that are read for a chart. */
const mostCounts = 10_000;

type Owner = { readonly partner_id: string; readonly key_id?: string };

/** The charts of a day and a month, and the refusals of the day. */
export async function usageOf({ call }: Visit, owner: Owner) {
  const nowMs = Date.now();
  // A clock that was ahead may have left counts in the future. The hour and the day of `until` are read.
  const until = new Date(nowMs + 1).toISOString();
  const countsOf = ({ unit, starts }: Span) =>
    call('listUsage', { query: { ...owner, by: unit, since: starts[0], until, limit: mostCounts } });
  const day = spanOf('Last 24 hours', 'hour', 24, nowMs);
  const month = spanOf('Last 30 days', 'day', 30, nowMs);
  const { usage: hours, cursor: moreHours } = await countsOf(day);
  const { usage: days, cursor: moreDays } = await countsOf(month);
  const ranked = [...new Set([...rankedCodes(hours), ...rankedCodes(days)])];
  const isCut = moreHours !== undefined || moreDays !== undefined;
  const cut = isCut && html`<p class="hint">Only the newest ${plural(mostCounts, 'count')} are shown.</p>`;
  return {
    charts: html`<div class="charts">${chart(day, hours, ranked)}${chart(month, days, ranked)}</div>${cut}`,
    refusals: html`${refusalsOf(owner, hours, day.starts.at(-2)!, new Date(nowMs).toISOString())}
<p>${receiptsLink(owner, {}, `All receipts of this ${owner.key_id === undefined ? 'partner' : 'key'}`)}</p>`,
  };
}

interface Refused {
  readonly code: string;
  readonly keyId: string;
  readonly operation: string;
  recent: number;
  all: number;
}

/** What the operations list. */
const listed: Readonly<Record<string, string>> = { listBrands: 'brands', listBalances: 'balances' };

/** Refusals by code, key and listing, those of this hour and the previous one first. */
function refusalsOf(owner: Owner, hours: readonly UsageCount[], recentFrom: string, now: string): Html {
  const found = new Map<string, Refused>();
  for (const { from, key_id: keyId, operation, code, count } of hours) {
    if (code === 'OK') continue;
    const name = JSON.stringify([code, keyId, operation]);
    const refused = found.get(name) ?? { code, keyId, operation, recent: 0, all: 0 };
    found.set(name, refused);
    refused.all += count;
    if (from >= recentFrom) refused.recent += count;
  }
  const sorted = [...found.values()].toSorted(
    (one, other) => other.recent - one.recent || other.all - one.all,
  );
  const rows = sorted.map((refused) => [
    code(refused.code),
    meaningOf(refused.code),
    listed[refused.operation] ?? refused.operation,
    ...(owner.key_id === undefined ? [idLink('keys', refused.keyId)] : []),
    html`<b>${refused.recent.toLocaleString('en')}</b>`,
    refused.all.toLocaleString('en'),
    refused.operation === 'listBalances'
      ? receiptsLink(owner, { key_id: refused.keyId, outcome: refused.code }, 'Receipts')
      : 'in the log',
  ]);
  const since = `Since ${recentFrom.slice(11, 16)} UTC`;
  const key = owner.key_id === undefined ? ['Key'] : [];
  const hint = html`<p class="hint">It is ${now.slice(11, 16)} UTC now. Requests for balances leave receipts.
For others, search the log of <code>partner-network serve</code> for the id of the key.</p>`;
  const counted = table(
    'Refusals',
    ['Code', 'What it means', 'Asked for', ...key, since, '24 hours', 'Requests'],
    rows,
    html`Nothing was refused in the last 24 hours. A request with an unknown key belongs to nobody, and is
not counted here: search the log of <code>partner-network serve</code> for UNAUTHORIZED.`,
  );
  return html`${rows.length > 0 && hint}${counted}`;
}

function receiptsLink(owner: Owner, filters: Record<string, string>, label: string): Html {
  return linkTo(`${pathTo('receipts')}?${new URLSearchParams({ ...owner, ...filters })}`, label);
}

/** The status and the meaning of a code or an outcome. Older versions may have had others. */
export function meaningOf(outcome: string): Value {
  if (outcome === 'GRANTED') return 'The partner got the balances.';
  const known = errorCatalogue[outcome as ErrorCode];
  return known === undefined ? '–' : html`<span class="role">${known.status}</span> ${known.when}`;
}

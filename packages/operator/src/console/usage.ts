/** What a partner or a key was answered: charts, and why it was refused. */
import { type ErrorCode, errorCatalogue } from '@partner-network/contract/errors';
import { refusalsPerMinute } from '@partner-network/contract/limits';
import type { UsageCount } from '@partner-network/store/port';
import type { Hour } from './counted.ts';
import { type Html, html } from './html.ts';
import { downloads, idLink, linkTo, mark, plural, table, time } from './parts.ts';
import type { Visit } from './visit.ts';

interface Span {
  readonly title: string;
  readonly unit: 'hour' | 'day';
  /** The beginnings of the hours or days, oldest first. */
  readonly starts: readonly string[];
}

const lengthMs = { hour: 3_600_000, day: 86_400_000 };

/** The last hours or days of UTC, the current one included. */
export function spanOf(title: string, unit: Span['unit'], count: number, nowMs: number): Span {
  const last = nowMs - (nowMs % lengthMs[unit]);
  const starts = Array.from({ length: count }, (_, index) =>
    new Date(last - (count - 1 - index) * lengthMs[unit]).toISOString(),
  );
  return { title, unit, starts };
}

/** Codes with a color of their own. The rest shares one. */
const colors = 6;
const rest = 'other codes';

/** The least height of refusals, so that a single one is visible. The axis has 100. */
const least = 1.5;

type Count = Pick<UsageCount, 'from' | 'code' | 'count'> &
  Partial<Pick<UsageCount, 'operation' | 'peak' | 'slowest_ms'>>;

interface Series {
  readonly code: string;
  /** The variable of the stylesheet that has its color. */
  readonly color: string;
  readonly total: number;
  /** The count of each hour or day by its beginning. */
  readonly counts: ReadonlyMap<string, number>;
}

const totalOf = (usage: readonly Count[]) => usage.reduce((sum, { count }) => sum + count, 0);

/** The total of each group of counts, by the name of the group. */
function totalsBy<C extends Count>(usage: readonly C[], nameOf: (counted: C) => string) {
  return new Map([...Map.groupBy(usage, nameOf)].map(([name, counted]) => [name, totalOf(counted)]));
}

/** The codes of refusals, the most frequent first. */
function rankedCodes(usage: readonly UsageCount[]): string[] {
  const totals = totalsBy(usage, ({ code }) => code);
  totals.delete('OK');
  return [...totals].toSorted(([, one], [, other]) => other - one).map(([code]) => code);
}

/** Refusals first, at the bottom of a bar, then what was answered. */
function seriesOf(usage: readonly Count[], ranked: readonly string[], good: string): Series[] {
  const own = ranked.slice(0, colors);
  const byName = Map.groupBy(usage, ({ code }) => (code === good || own.includes(code) ? code : rest));
  return [...own, rest, good].flatMap((code, index) => {
    const shown = byName.get(code);
    if (shown === undefined) return [];
    const color = code === good ? 'ok' : `code-${code === rest ? 'rest' : index}`;
    return { code, color, total: totalOf(shown), counts: totalsBy(shown, ({ from }) => from) };
  });
}

/**
 * `ranked` gives the codes their colors, so that charts side by side have the same. `good` is the code at the
 * top of the bars.
 */
export function chart(span: Span, usage: readonly Count[], ranked: readonly string[], good = 'OK'): Html {
  const { title, unit, starts } = span;
  const series = seriesOf(usage, ranked, good);
  const heading = html`<h3>${title} (UTC)</h3>`;
  if (series.length === 0)
    return html`<section class="chart">${heading}<p class="empty">No answers.</p></section>`;
  const totals = totalsBy(usage, ({ from }) => from);
  const top = topOf(Math.max(...starts.map((start) => totals.get(start) ?? 0)));
  const colorsOfSeries = series.map(({ color }) => color);
  const bars = starts.map((start, index) => {
    const counts = series.map(({ counts }) => counts.get(start) ?? 0);
    const said = series.flatMap(({ code }, at) => (counts[at]! > 0 ? `${counts[at]} ${code}` : []));
    return html`<g><title>${labelOf(start, unit)}: ${said.join(', ') || 'none'}</title>
${barOf(colorsOfSeries, counts, index, top)}</g>`;
  });
  const scale = [top, top / 2, 0].map((count) => html`<span>${count.toLocaleString('en')}</span>`);
  const summary = series.map(({ code, total }) => `${total} ${code}`).join(', ');
  const ticks = starts.filter((_, index) => index % Math.ceil(starts.length / 6) === 0);
  return html`<section class="chart">${heading}
<div class="plot"><p class="scale" aria-hidden="true">${scale}</p>
<svg viewBox="0 0 ${starts.length * 10} 100" preserveAspectRatio="none" role="img"
aria-label="${title}: ${summary}">${bars}</svg>
<p class="axis" aria-hidden="true">${ticks.map((start) => html`<span>${labelOf(start, unit)}</span>`)}</p>
</div>
<ul class="legend">${series.map(
    ({ code, color, total }) => html`<li>${swatch(color)}${code} <b>${total.toLocaleString('en')}</b></li>`,
  )}</ul>
${numbersOf(span, series, usage)}</section>`;
}

/** The highest numbers among counts, by what they are. Counts of older versions have none. */
function highestOf(usage: readonly Count[]): ReadonlyMap<string, number> {
  const highest = new Map<string, number>();
  const note = (name: string, value: number) => highest.set(name, Math.max(value, highest.get(name) ?? 0));
  for (const { operation = '', peak, slowest_ms } of usage) {
    if (peak !== undefined) note(`Peak a second, ${listed[operation] ?? operation}`, peak);
    if (slowest_ms !== undefined) note('Slowest answer, ms', slowest_ms);
  }
  return highest;
}

/** The highest number of the axis: its half is a whole number. */
function topOf(highest: number): number {
  const unit = 10 ** Math.floor(Math.log10(highest));
  return [2, 4, 6, 8, 10].map((times) => times * unit).find((top) => top >= highest)!;
}

const swatch = (color: string) => html`<svg class="swatch" aria-hidden="true">
<rect fill="var(--${color})" width="100%" height="100%"/></svg>`;

/** The parts of a bar, from its bottom. */
function barOf(colors: readonly string[], counts: readonly number[], index: number, most: number) {
  let top = 100;
  return counts.map((count, at) => {
    if (count === 0) return '';
    const color = colors[at]!;
    const height = (count / most) * 100;
    const shown = Math.min(top, color === 'ok' ? height : Math.max(least, height));
    top -= shown;
    return html`<rect fill="var(--${color})" x="${index * 10 + 1}" y="${top.toFixed(1)}" width="8"
height="${shown.toFixed(1)}"/>`;
  });
}

/** A small chart of the refusals and the other answers of hours. */
export function sparkline(starts: readonly string[], hours: readonly Hour[]): Html {
  const highest = Math.max(...hours.map(([answers]) => answers));
  const busiest = starts[hours.findIndex(([answers]) => answers === highest)]!;
  const bars = hours.map(([all, refused], index) =>
    barOf(['code-0', 'ok'], [refused, all - refused], index, highest),
  );
  return html`<svg class="spark" viewBox="0 0 ${starts.length * 10} 100" preserveAspectRatio="none" role="img"
aria-label="Answers by hour: at most ${highest}, from ${labelOf(busiest, 'hour')} on">${bars}</svg>`;
}

function labelOf(start: string, unit: Span['unit']): string {
  return unit === 'hour' ? start.slice(11, 16) : start.slice(5, 10);
}

function numbersOf({ title, unit, starts }: Span, series: readonly Series[], usage: readonly Count[]): Html {
  const highest = [...highestOf(usage)];
  const byStart = Map.groupBy(usage, ({ from }) => from);
  const busy = starts.filter((start) => series.some(({ counts }) => counts.has(start))).toReversed();
  const rows = busy.map((start) => [
    html`<time datetime="${start}">${start.slice(0, unit === 'hour' ? 16 : 10).replace('T', ' ')}</time>`,
    ...series.map(({ counts }) => counts.get(start) ?? 0),
    ...highest.map(([name]) => highestOf(byStart.get(start) ?? []).get(name) ?? '–'),
  ]);
  const names = [...series.map(({ code }) => code), ...highest.map(([name]) => name)];
  const columns = [unit === 'hour' ? 'Hour (UTC)' : 'Day (UTC)', ...names];
  const said = highest.map(([name, value]) => html`${name}: <b>${value.toLocaleString('en')}</b>. `);
  return html`${said.length > 0 && html`<p class="hint">${said}</p>`}
<details><summary>The numbers as a table</summary>
${table(`${title}, numbers`, columns, rows, '')}</details>`;
}

/** Counts that are read for a chart. */
const mostCounts = 10_000;

type Owner = { readonly partner_id: string; readonly key_id?: string };

/** The charts of a day and a month, and the refusals of the day. */
export async function usageOf(visit: Visit, owner: Owner) {
  const { call } = visit;
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
  const of = owner.key_id === undefined ? 'partner' : 'key';
  return {
    charts: html`<div class="charts">${chart(day, hours, ranked)}${chart(month, days, ranked)}</div>${cut}
${downloads('usage', { ...owner }, 'numbers of answers by hour')}`,
    refusals: html`${await refusalsOf(visit, owner, hours, day.starts)}
<p>${linkTo('/console/receipts', `All receipts of this ${of}`, { ...owner })}</p>`,
  };
}

/** Which requests leave a receipt. */
export const leaveReceipts = html`Requests for balances leave a receipt, and so do refused requests for
brands: at most ${refusalsPerMinute} a minute for a key and code on each instance. All are counted.`;

/** What the operations list. */
export const listed: Readonly<Record<string, string>> = { listBrands: 'brands', listBalances: 'balances' };

/** Refusals that are shown, and how old the last one of those that go on now may be, ms. */
const mostRefusals = 25;
const goingOnMs = 600_000;

/** Refusals by code, key and listing. Those that go on now are first, then those of these two hours. */
async function refusalsOf(
  { reads }: Visit,
  owner: Owner,
  hours: readonly UsageCount[],
  starts: Span['starts'],
) {
  const recentFrom = starts.at(-2)!;
  const refused = hours.filter(({ code }) => code !== 'OK');
  const found = Map.groupBy(refused, (each) => JSON.stringify([each.code, each.key_id, each.operation]));
  const counted = [...found.values()].map((counts) => ({
    ...counts[0]!,
    recent: totalOf(counts.filter(({ from }) => from >= recentFrom)),
    all: totalOf(counts),
  }));
  counted.sort((one, other) => other.recent - one.recent || other.all - one.all);
  const shown = counted.slice(0, mostRefusals).map(async ({ code: outcome, ...refused }) => {
    const times = await reads.refusalTimes({ ...refused, outcome, since: starts[0]! });
    const isNow = Date.parse(times.last ?? '') > Date.now() - goingOnMs;
    return { ...refused, ...times, outcome, isNow };
  });
  const ranked = (await Promise.all(shown)).toSorted((one, other) => Number(other.isNow) - Number(one.isNow));
  const rows = ranked.map(({ outcome, key_id, operation, recent, all, first, last }) => [
    outcomeOf(outcome),
    listed[operation] ?? operation,
    ...(owner.key_id === undefined ? [idLink('keys', key_id)] : []),
    time(first),
    time(last),
    all,
    recent,
    linkTo('/console/receipts', 'Receipts', { ...owner, key_id, operation, outcome }),
  ]);
  const key = owner.key_id === undefined ? ['Key'] : [];
  const times = ['Since (UTC)', 'Last (UTC)'];
  const from = labelOf(recentFrom, 'hour');
  const hint = html`<p class="hint">What goes on now is first. ${leaveReceipts}</p>`;
  const refusals = table(
    'Refusals',
    ['Code', 'Asked for', ...key, ...times, 'In 24 hours', `Of these after ${from}`, 'Requests'],
    rows,
    html`Nothing was refused in the last 24 hours. A request with an unknown key belongs to nobody, and is
not counted here: search the log of <code>partner-network serve</code> for UNAUTHORIZED.`,
  );
  const cut =
    counted.length > rows.length && html`<p class="hint">${rows.length} of ${counted.length} are shown.</p>`;
  return html`${rows.length > 0 && hint}${refusals}${cut}`;
}

/** A code or an outcome with its status and meaning. Older versions may have had others. */
export function outcomeOf(outcome: string): Html {
  const { status, when } = errorCatalogue[outcome as ErrorCode] ?? {};
  const meaning = outcome === 'GRANTED' ? 'The partner got the balances.' : when;
  return html`${mark(outcome)} ${status && html`<span class="role">${status}</span>`} ${meaning}`;
}

/** Answers by code over time: an SVG, and the same numbers as a table. */
import type { UsageCount } from '@partner-network/store/port';
import { type Html, html } from './html.ts';
import { plural, table } from './parts.ts';

export interface Span {
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
export function rankedCodes(usage: readonly UsageCount[]): string[] {
  const totals = new Map<string, number>();
  for (const { code, count } of usage) totals.set(code, (totals.get(code) ?? 0) + count);
  totals.delete('OK');
  return [...totals].toSorted(([, one], [, other]) => other - one).map(([code]) => code);
}

/** Refusals first, at the bottom of a bar, then what was answered. */
function seriesOf(usage: readonly UsageCount[], ranked: readonly string[]): Series[] {
  const own = ranked.slice(0, colors);
  const present = new Set(usage.map(({ code }) => code));
  const isRest = (code: string) => code !== 'OK' && !own.includes(code);
  const names = [
    ...own.filter((code) => present.has(code)),
    ...([...present].some(isRest) ? [rest] : []),
    ...(present.has('OK') ? ['OK'] : []),
  ];
  return names.map((name) => {
    const counts = new Map<string, number>();
    for (const { from, code, count } of usage) {
      if ((isRest(code) ? rest : code) === name) counts.set(from, (counts.get(from) ?? 0) + count);
    }
    const index = own.indexOf(name);
    const color = name === 'OK' ? 'ok' : `code-${index === -1 ? 'rest' : index}`;
    return { code: name, color, total: [...counts.values()].reduce((sum, count) => sum + count, 0), counts };
  });
}

/** `ranked` gives the codes their colors, so that charts side by side have the same. */
export function chart(
  { title, unit, starts }: Span,
  usage: readonly UsageCount[],
  ranked: readonly string[],
): Html {
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

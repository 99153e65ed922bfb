import stringWidth from 'string-width';
import { oneLine, textOf } from '../text.ts';
import { toned, toneOf } from './color.ts';
import { wrap } from './help.ts';

/**
 * What is in a column. Only ids and texts are shortened. A text, which has no kind, loses its end. An id
 * loses its middle, because the ids of one day begin alike. Numbers stand at the right. States have colors.
 */
type Kind = 'id' | 'time' | 'state' | 'number' | 'whole';

export type Column<R> = readonly [heading: string, cell: (record: R) => string, kind?: Kind];

/** The columns of a list in the order of their worth: a narrow terminal leaves out the last ones. */
export type Columns<R> = readonly Column<R>[];

export const usualColumns = 80;
const gap = '  ';
/** Texts and ids are not cut to fewer cells, because nobody could recognize them. */
const minTextCells = 12;
const minIdCells = 14;

/** The cells of a line: a file or a pipe has no bound, so nothing is left out there. */
function roomOfOutput({ isTTY, columns } = process.stdout): number {
  // A terminal of unknown width reports 0. The last cell stays empty: filling it makes some terminals wrap.
  return isTTY ? (columns || usualColumns) - 1 : Number.POSITIVE_INFINITY;
}

/** A table of all records. Below it, one line says what the terminal has no room for. */
export function table<R>(records: readonly R[], columns: Columns<R>, room?: number): string {
  const { rows, note } = growingTable(columns, room);
  return `${rows(records)}${note('\n')}`.trimEnd();
}

/**
 * A table whose records arrive page by page: `rows` lays out a page. Columns grow with their content, never
 * beyond the room. The heading is printed first, and again when a column had to be left out. After the last
 * page, `note` says what is missing.
 */
export function growingTable<R>(columns: Columns<R>, room = roomOfOutput()) {
  const isTerminal = Number.isFinite(room);
  const isShort = columns.map(([, , kind]) => isTerminal && kind === 'time');
  const headings = columns.map(([heading], index) => (isShort[index] ? `${heading} (UTC)` : heading));
  const needed = headings.map((heading) => heading.length);
  const shortened = new Set<string>();
  let shownColumns = 0;

  function rows(records: readonly R[]): string {
    const cells = records.map((record) =>
      columns.map(([, cell], index) => {
        const text = oneLine(textOf(cell(record)));
        return isShort[index] ? shortTime(text) : text;
      }),
    );
    for (const [index, width] of needed.entries()) {
      // Not `Math.max(...widths)`, which fails at about 120,000 rows.
      needed[index] = cells.reduce((most, row) => Math.max(most, stringWidth(row[index]!)), width);
    }
    const widths = lineWidth(needed) <= room ? [...needed] : widthsWithin(needed, leastWidths(cells), room);
    for (const [index, width] of widths.entries())
      if (width < needed[index]!) shortened.add(columns[index]![0]);
    const line = (texts: readonly string[], isHeading = false) => {
      const parts = widths.map((width, index) => layOut(columns[index]![2], texts[index]!, width, isHeading));
      return `${parts.join(gap).trimEnd()}\n`;
    };
    const heading = widths.length === shownColumns ? '' : line(headings, true);
    const separator = shownColumns === 0 || heading === '' ? '' : '\n';
    shownColumns = widths.length;
    return separator + heading + cells.map((row) => line(row)).join('');
  }

  function leastWidths(cells: readonly (readonly string[])[]): number[] {
    return columns.map(([, , kind], index) => {
      if (kind !== undefined && kind !== 'id') return needed[index]!;
      const least = kind === undefined ? minTextCells : distinctCells(cells.map((row) => row[index]!));
      return Math.min(needed[index]!, least);
    });
  }

  function note(before = ''): string {
    const leftOut = columns.slice(shownColumns).map(([heading]) => heading);
    const missing = { 'Left out': leftOut, Shortened: [...shortened] };
    const parts = Object.entries(missing).filter(([, names]) => shownColumns > 0 && names.length > 0);
    if (parts.length === 0) return '';
    const sentences = parts.map(([what, names]) => `${what}: ${names.join(', ')}.`).join(' ');
    return `${before}${wrap(`${sentences} A wider window or --json shows all.`, room).join('\n')}\n`;
  }

  return { rows, note };
}

function layOut(kind: Kind | undefined, text: string, width: number, isHeading: boolean): string {
  const short = shorten(text, width, kind === 'id');
  const padding = ' '.repeat(width - stringWidth(short));
  if (kind === 'number') return padding + short;
  return (kind === 'state' && !isHeading ? toned(toneOf(text), short) : short) + padding;
}

/** The widths of the columns that fit: the last columns are dropped, then the widest are shortened. */
function widthsWithin(needed: readonly number[], least: readonly number[], room: number): number[] {
  let count = needed.length;
  while (count > 1 && lineWidth(least.slice(0, count)) > room) count -= 1;
  const widths = needed.slice(0, count);
  while (lineWidth(widths) > room) {
    const spare = widths.map((width, index) => (width > least[index]! ? width : 0));
    const widest = spare.indexOf(Math.max(...spare));
    // A single column that is still too wide is cut, whatever it holds.
    if (spare[widest] === 0) return [Math.max(room, 1)];
    widths[widest]! -= 1;
  }
  return widths;
}

function lineWidth(widths: readonly number[]): number {
  return widths.reduce((sum, width) => sum + width, 0) + gap.length * (widths.length - 1);
}

/** The least width in which no two ids look alike. */
function distinctCells(ids: readonly string[]): number {
  const all = [...new Set(ids)];
  let cells = minIdCells;
  while (new Set(all.map((id) => shorten(id, cells, true))).size < all.length) cells += 1;
  return cells;
}

const clusters = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** Cuts the end of a text, or the middle of an id, never within a character of several code points. */
export function shorten(text: string, cells: number, isId = false): string {
  if (stringWidth(text) <= cells) return text;
  const characters = Array.from(clusters.segment(text), ({ segment }) => segment);
  let end = '';
  while (isId && stringWidth(characters.at(-1) + end) <= cells / 2) end = characters.pop() + end;
  let start = '';
  for (const character of characters) {
    if (stringWidth(start + character + end) >= cells) break;
    start += character;
  }
  return `${start}…${end}`;
}

/** 2026-01-31T08:00:00.000Z as 2026-01-31 08:00, still in UTC. */
export function shortTime(time: string | undefined): string {
  return textOf(time).slice(0, 16).replace('T', ' ');
}

import { oneLine, textOf } from '../text.ts';

export interface Column<R> {
  readonly heading: string;
  cell(row: R): string;
  readonly isRight?: boolean;
  /** The column is not shortened below this width, in terminal cells; without room for it, it is left out. */
  readonly minCells?: number;
}

/** The width of a file or pipe, for which nothing is cut off. */
export const boundless = { columns: Number.POSITIVE_INFINITY };

/** For each heading, the function that reads a record's cell. */
export type Cells<R> = Readonly<Record<string, (record: R) => string>>;

/** A table of all records at full width. */
export function table<R>(records: readonly R[], cells: Cells<R>): string {
  const columns = Object.entries(cells).map(([heading, cell]) => ({ heading, cell }));
  return growingTable(columns, boundless)(records).trimEnd();
}

export const usualColumns = 80;
const gap = '  ';
/** Names are not cut to fewer cells, because nobody could recognize them. */
const minNameCells = 8;
/** For cells that are wrong without their end, such as an amount. */
export const neverShortened = Number.POSITIVE_INFINITY;
/** The width of an id that the service issues, such as BRAND_ and 32 digits. */
export const issuedIdCells = 38;

/**
 * A table whose rows arrive page by page. The returned function lays out one page. Columns grow with their
 * content but never beyond the terminal, where the last columns are left out first. The heading is printed
 * first, and again when a column had to be left out.
 */
export function growingTable<R>(
  columns: readonly Column<R>[],
  screen: { readonly columns?: number | undefined },
): (rows: readonly R[]) => string {
  const headings = columns.map(({ heading }) => heading);
  const needed = headings.map((heading) => heading.length);
  let shownColumns = 0;

  return (rows) => {
    const cells = rows.map((row) => columns.map((column) => oneLine(textOf(column.cell(row)))));
    for (const [index, width] of needed.entries()) {
      // Not `Math.max(...widths)`, which fails at about 120,000 rows.
      needed[index] = cells.reduce((most, row) => Math.max(most, displayWidth(row[index]!)), width);
    }
    // A terminal of unknown width reports 0. The last cell stays empty: filling it makes some terminals wrap.
    const widths = widthsWithin(columns, needed, (screen.columns || usualColumns) - 1);
    const line = (texts: readonly string[]) => {
      const parts = widths.map((width, index) => layOut(columns[index]!, texts[index]!, width));
      return `${parts.join(gap).trimEnd()}\n`;
    };
    const heading = widths.length === shownColumns ? '' : line(headings);
    const separator = shownColumns === 0 || heading === '' ? '' : '\n';
    shownColumns = widths.length;
    return separator + heading + cells.map(line).join('');
  };
}

function layOut<R>(column: Column<R>, text: string, width: number): string {
  const short = shorten(text, width);
  const padding = ' '.repeat(width - displayWidth(short));
  return column.isRight ? padding + short : short + padding;
}

/** The widths of the columns that fit: the last columns are dropped, then the widest are shortened. */
function widthsWithin<R>(columns: readonly Column<R>[], needed: readonly number[], room: number): number[] {
  const least = needed.map((width, index) => Math.min(width, columns[index]!.minCells ?? minNameCells));
  let count = columns.length;
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

const ascii = /^[\u0020-\u007e]*$/;
const clusters = new Intl.Segmenter('en', { granularity: 'grapheme' });
const emoji = /\p{Emoji_Presentation}|\p{Extended_Pictographic}\ufe0f|\u20e3/u;
/** Marks, joiners, and the vowels and final consonants of a Hangul syllable. */
const withoutWidth = /[\p{Mn}\p{Me}\p{Cf}\u1160-\u11ff\ud7b0-\ud7ff]/u;
/** The wide and fullwidth blocks of Unicode's East Asian Width. */
const wide = new RegExp(
  '[\\u1100-\\u115f\\u2329\\u232a\\u2e80-\\u303e\\u3041-\\ua4cf\\ua960-\\ua97f\\uac00-\\ud7a3' +
    '\\uf900-\\ufaff\\ufe10-\\ufe19\\ufe30-\\ufe6f\\uff01-\\uff60\\uffe0-\\uffe6' +
    '\\u{16fe0}-\\u{18cff}\\u{1b000}-\\u{1b2ff}\\u{20000}-\\u{3fffd}]',
  'u',
);

/** The width of a text in terminal cells: 2 for a Chinese character or an emoji, 0 for an accent. */
export function displayWidth(text: string): number {
  if (ascii.test(text)) return text.length;
  let cells = 0;
  for (const { segment } of clusters.segment(text)) cells += widthOfCluster(segment);
  return cells;
}

function widthOfCluster(cluster: string): number {
  if (emoji.test(cluster)) return 2;
  let cells = 0;
  for (const character of cluster) cells += withoutWidth.test(character) ? 0 : wide.test(character) ? 2 : 1;
  return cells;
}

/** Cuts a text to a width, never within a character that is made of several code points. */
export function shorten(text: string, cells: number): string {
  if (displayWidth(text) <= cells) return text;
  let shown = '';
  let left = cells - 1;
  for (const { segment } of clusters.segment(text)) {
    left -= displayWidth(segment);
    if (left < 0) break;
    shown += segment;
  }
  return `${shown}…`;
}

const currencyCode = /^[A-Z]{3}$/;

/** Formats cents as $1,250.50. The digits are moved as text, because a float would round large amounts. */
export function money(amount: number, currency: string): string {
  // A value that is not an amount in cents is shown unchanged.
  const isAmount = Number.isSafeInteger(amount) && currencyCode.test(textOf(currency));
  if (!isAmount) return `${textOf(amount)} ${textOf(currency)}`;
  const format = new Intl.NumberFormat('en-US', { style: 'currency', currency });
  const { maximumFractionDigits: decimals = 0 } = format.resolvedOptions();
  return format.format(`${amount}E-${decimals}` as Intl.StringNumericLiteral);
}

/** 2026-01-31T08:00:00.000Z as 2026-01-31 08:00, still in UTC. */
export function shortTime(time: string | undefined): string {
  return textOf(time).slice(0, 16).replace('T', ' ');
}

import { oneLine, textOf } from '../text.ts';
import { displayWidth, shorten } from './width.ts';

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

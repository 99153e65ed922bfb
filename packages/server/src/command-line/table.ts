import { oneLine, textOf } from '../lib/text.ts';
import { displayWidth, shorten } from './width.ts';

export interface Column<R> {
  readonly heading: string;
  cell(row: R): string;
  readonly isRight?: boolean;
  /** Cells that it is not shortened beyond: where there is no room for them, the column is left out. */
  readonly shortestCells?: number;
}

/** What is no terminal cuts nothing off. */
export const boundless = { columns: Number.POSITIVE_INFINITY };

/** Columns as wide as their widest cell, however wide that is; the first row is the heading. */
export function table([headings, ...rows]: readonly (readonly string[])[]): string {
  const columns = headings!.map((heading, index) => ({
    heading,
    cell: (row: readonly string[]) => row[index]!,
  }));
  return growingTable(columns, boundless)(rows).trimEnd();
}

const usualCells = 80;
const gap = '  ';
/** Shorter than this, a name tells nothing any more. */
const shortestNameCells = 8;
/** Of what is wrong without its end, as an amount is. */
export const neverShortened = Number.POSITIVE_INFINITY;
/** Of an id as the service issues it, such as BRAND_ and 32 digits. */
export const issuedIdCells = 38;

/**
 * A table whose rows come bit by bit, each shown when it comes: columns grow with what they hold, and never
 * beyond the terminal, where the last of them go first. Gives the lines of these rows, under a heading the
 * first time and when there are fewer columns than before.
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
      needed[index] = Math.max(width, ...cells.map((row) => displayWidth(row[index]!)));
    }
    // A terminal that does not know its width says 0. In its last cell some begin the next line.
    const widths = widthsWithin(columns, needed, (screen.columns || usualCells) - 1);
    const line = (texts: readonly string[]) => {
      const parts = widths.map((width, index) => laidOut(columns[index]!, texts[index]!, width));
      return `${parts.join(gap).trimEnd()}\n`;
    };
    const heading = widths.length === shownColumns ? '' : line(headings);
    const separator = shownColumns === 0 || heading === '' ? '' : '\n';
    shownColumns = widths.length;
    return separator + heading + cells.map(line).join('');
  };
}

function laidOut<R>(column: Column<R>, text: string, width: number): string {
  const short = shorten(text, width);
  const padding = ' '.repeat(width - displayWidth(short));
  return column.isRight ? padding + short : short + padding;
}

/** The widths of as many columns as there is room for. */
function widthsWithin<R>(columns: readonly Column<R>[], needed: readonly number[], room: number): number[] {
  const least = needed.map((width, index) =>
    Math.min(width, columns[index]!.shortestCells ?? shortestNameCells),
  );
  let count = columns.length;
  while (count > 1 && lineWidth(least.slice(0, count)) > room) count -= 1;
  const widths = needed.slice(0, count);
  while (lineWidth(widths) > room) {
    const spare = widths.map((width, index) => (width > least[index]! ? width : 0));
    const widest = spare.indexOf(Math.max(...spare));
    // One column that is wider than the terminal even so is cut, whatever it holds.
    if (spare[widest] === 0) return [Math.max(room, 1)];
    widths[widest]! -= 1;
  }
  return widths;
}

function lineWidth(widths: readonly number[]): number {
  return widths.reduce((sum, width) => sum + width, 0) + gap.length * (widths.length - 1);
}

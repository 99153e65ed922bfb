import { oneLine } from '../text.ts';
import { displayWidth, shorten } from './width.ts';

export interface Column<R> {
  readonly heading: string;
  cell(row: R): string;
  readonly isRight?: boolean;
  /** Half of an amount is another amount: it is shown whole, or its column not at all. */
  readonly isWhole?: boolean;
  /** Colours what is shown, once it has its width. */
  paint?(shown: string, row: R): string;
}

const usualCells = 80;
const gap = '  ';
/** Shorter than this, a name tells nothing any more. */
const shortestCells = 8;

/**
 * A table whose rows come bit by bit, each shown when it comes: columns grow with what they hold, and never
 * beyond the terminal, where the last of them go first. Gives the lines of these rows, the first time under a
 * heading.
 */
export function growingTable<R>(
  columns: readonly Column<R>[],
  screen: { readonly columns?: number | undefined },
): (rows: readonly R[]) => string {
  const needed = columns.map(({ heading }) => heading.length);
  let isBegun = false;

  return (rows) => {
    const cells = rows.map((row) => columns.map((column) => oneLine(column.cell(row))));
    for (const [index, width] of needed.entries()) {
      needed[index] = Math.max(width, ...cells.map((row) => displayWidth(row[index]!)));
    }
    // A terminal that does not know its width says 0. In its last cell some begin the next line.
    const widths = widthsWithin(columns, needed, (screen.columns || usualCells) - 1);
    const line = (texts: readonly string[], row?: R) =>
      widths
        .map((width, index) => laidOut(columns[index]!, texts[index]!, width, row))
        .join(gap)
        .trimEnd();
    const lines = cells.map((texts, index) => line(texts, rows[index]));
    if (!isBegun) lines.unshift(line(columns.map(({ heading }) => heading)));
    isBegun = true;
    return lines.map((text) => `${text}\n`).join('');
  };
}

function laidOut<R>(column: Column<R>, text: string, width: number, row: R | undefined): string {
  const short = shorten(text, width);
  const shown = row === undefined ? short : (column.paint?.(short, row) ?? short);
  const padding = ' '.repeat(width - displayWidth(short));
  return column.isRight ? padding + shown : shown + padding;
}

/** The widths of as many columns as there is room for. */
function widthsWithin<R>(columns: readonly Column<R>[], needed: readonly number[], room: number): number[] {
  const least = needed.map((width, index) =>
    columns[index]!.isWhole ? width : Math.min(width, shortestCells),
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

/** The report of every bench: a table of measurements, each with the figures of all rounds and its goal. */
import { print } from '../../lib/program.ts';

export interface Measurement {
  readonly name: string;
  /** A figure of each round. */
  readonly figures: readonly number[];
  readonly unit: string;
  /** The measurement that it is divided by, in each round: a machine that is slow for a while slows both. */
  readonly over?: string | undefined;
  /** The goals of the median: of the ratio, or of the figure if it is divided by nothing. */
  readonly atMost?: number | undefined;
  readonly atLeast?: number | undefined;
}

/** The value below which this share of the values lies; NaN if there are no values. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}

export const median = (values: readonly number[]) => quantile(values, 0.5);

/** A Markdown table: the first column is aligned left, all others right. The first row is the heading. */
export function markdown([heading, ...rows]: string[][]): string {
  const widths = heading!.map((_, column) =>
    Math.max(...[heading!, ...rows].map((row) => row[column]!.length)),
  );
  const aligned = (cell: string, column: number) =>
    column === 0 ? cell.padEnd(widths[0]!) : cell.padStart(widths[column]!);
  const line = (row: readonly string[]) => `| ${row.map(aligned).join(' | ')} |`;
  const rule = widths.map((width, column) =>
    column === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`,
  );
  return [line(heading!), line(rule), ...rows.map(line)].join('\n');
}

/** Prints all measurements. Returns whether all goals are met. */
export function report(measurements: readonly Measurement[]): boolean {
  const judged = measurements.map((measurement) => judge(measurement, measurements));
  const heading = ['measurement', 'median', 'lowest to highest', 'divided by', 'ratio', 'lowest to highest'];
  print(markdown([[...heading, 'goal', 'verdict'], ...judged.map(({ cells }) => cells)]));
  return judged.every(({ isMet }) => isMet);
}

function judge(measurement: Measurement, all: readonly Measurement[]) {
  const { name, figures, unit, over = '', atMost, atLeast } = measurement;
  const other = all.find((one) => one.name === over);
  const ratios = other === undefined ? [] : figures.map((figure, round) => figure / other.figures[round]!);
  // Compares the goal with the exact figure; the printed figure is rounded.
  const value = median(other === undefined ? figures : ratios);
  // A figure that is not a number, as of no answers, meets no goal.
  const isMet = (atMost === undefined || value <= atMost) && (atLeast === undefined || value >= atLeast);
  const limits = [atMost && `at most ${atMost}`, atLeast && `at least ${atLeast}`].filter(Boolean);
  const verdict = isMet ? 'met' : 'falls short';
  const [middle, range] = shown(figures, ` ${unit}`);
  const cells = [
    name,
    middle,
    range,
    other === undefined ? '' : `${over}: ${shown(other.figures, ` ${other.unit}`)[0]}`,
    ...shown(ratios),
    limits.join(),
    limits.length > 0 ? verdict : '',
  ];
  return { isMet, cells };
}

/** The median, and the lowest and the highest value. */
function shown(values: readonly number[], unit = ''): [middle: string, range: string] {
  const text = (value: number) => value.toFixed(value < 10 ? 2 : value < 1_000 ? 1 : 0);
  if (values.every(Number.isNaN)) return ['', ''];
  const range = `${text(Math.min(...values))} to ${text(Math.max(...values))}`;
  return [`${text(median(values))}${unit}`, values.length === 1 ? '' : range];
}

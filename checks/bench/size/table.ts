/** The measurements as a Markdown table, and the ratios above the goal. */
import { markdown } from '../lib/table.ts';
import type { Cost, Measured } from './measure.ts';

/** The highest ratio of large to small, and of a middle or last page to the first page. */
export const goal = 1.2;

interface Figure {
  readonly title: string;
  readonly digits: number;
  readonly of: (cost: Cost) => number | undefined;
}

export const timeFigure: Figure = { title: 'time, µs', digits: 0, of: ({ timeUs }) => timeUs };
export const cpuFigure: Figure = { title: 'CPU, µs', digits: 0, of: ({ cpuUs }) => cpuUs };
export const blocksFigure: Figure = { title: 'blocks', digits: 1, of: ({ blocks }) => blocks };

interface Row {
  readonly name: string;
  /** Small, large, and their ratio. */
  readonly cells: readonly string[];
  /** The ratios that must not exceed the goal. */
  readonly ratios: readonly number[];
}

/** A row for each page. Later pages have a second row with their ratios to the first page. */
function rowsOf(measured: readonly Measured[], { digits, of }: Figure): Row[] {
  const [small, large] = [(one: Measured) => of(one.small)!, (one: Measured) => of(one.large)!];
  return measured.flatMap((one) => {
    const { listing, position } = one;
    const name = position === 'only' ? listing : `${listing}, ${position} page`;
    const ratio = large(one) / small(one);
    const costs = [small(one), large(one)].map((cost) => cost.toFixed(digits));
    const page = { name, cells: [...costs, ratio.toFixed(2)], ratios: [ratio] };
    if (position === 'only' || position === 'first') return [page];
    const first = measured.find((other) => other.listing === listing && other.position === 'first')!;
    const ratios = [small(one) / small(first), large(one) / large(first)];
    const cells = [...ratios.map((value) => value.toFixed(2)), ''];
    return [page, { name: `${name} to first`, cells, ratios }];
  });
}

/**
 * A sentence for each ratio above the goal. Blocks are judged for whole pages only: 1 or 10 records take few
 * blocks, so that one more index level, the cost of a hundred times the rows, is a quarter of them.
 */
export function faultsOf(measured: readonly Measured[], figures: readonly Figure[]): string[] {
  return figures.flatMap((figure) => {
    const judged = measured.filter(({ position }) => figure !== blocksFigure || position !== 'only');
    return rowsOf(judged, figure).flatMap(({ name, ratios }) =>
      ratios
        .filter((ratio) => ratio > goal)
        .map((ratio) => `${figure.title}: ${name}: ${ratio.toFixed(2)} is above ${goal.toFixed(2)}.`),
    );
  });
}

export function tableOf(measured: readonly Measured[], figures: readonly Figure[]): string {
  const columns = figures.map((figure) => rowsOf(measured, figure));
  const heading = [
    `page (goal: ratio ${goal.toFixed(2)})`,
    ...figures.flatMap(({ title }) => [`${title}: small`, 'large', 'ratio']),
  ];
  const rows = columns[0]!.map(({ name }, index) => [
    name,
    ...columns.flatMap((column) => column[index]!.cells),
  ]);
  return markdown([heading, ...rows]);
}

/** What was measured as a table in Markdown, and what of it is above the goal. */

import { markdown } from '../lib/table.ts';
import type { Cost, Measured } from './measure.ts';

/** The middle and the last page may cost this much of the first one, and large this much of small. */
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
  readonly small: string;
  readonly large: string;
  readonly ratio: string;
}

interface Ratio {
  readonly name: string;
  readonly value: number;
}

/** What a position costs of the first page of the same listing. */
function toFirst(one: Measured, all: readonly Measured[], figure: Figure, size: 'small' | 'large'): number {
  const first = all.find(({ listing, position }) => listing === one.listing && position === 'first')!;
  return figure.of(one[size])! / figure.of(first[size])!;
}

function largeToSmall({ small, large }: Measured, figure: Figure): number {
  return figure.of(large)! / figure.of(small)!;
}

/** Positions that have a first page to be compared with. */
function later(measured: readonly Measured[]): Measured[] {
  return measured.filter(({ position }) => position === 'middle' || position === 'last');
}

function ratiosOf(measured: readonly Measured[], figure: Figure): Ratio[] {
  return [
    ...measured.map((one) => ({ name: `${nameOf(one)}, large to small`, value: largeToSmall(one, figure) })),
    ...later(measured).flatMap((one) =>
      (['small', 'large'] as const).map((size) => ({
        name: `${nameOf(one)} to first page, ${size}`,
        value: toFirst(one, measured, figure, size),
      })),
    ),
  ];
}

/**
 * Blocks are judged for whole pages. A record or ten take so few that one more level of an index, which is
 * what a hundred times the rows cost, is a quarter of them.
 */
function judged(measured: readonly Measured[], figure: Figure): Measured[] {
  return measured.filter(({ position }) => figure !== blocksFigure || position !== 'only');
}

/** A sentence for each ratio that is above the goal. */
export function faultsOf(measured: readonly Measured[], figures: readonly Figure[]): string[] {
  return figures.flatMap((figure) =>
    ratiosOf(judged(measured, figure), figure)
      .filter(({ value }) => value > goal)
      .map(({ name, value }) => `${figure.title}: ${name}: ${value.toFixed(2)} is above ${goal.toFixed(2)}.`),
  );
}

function nameOf({ listing, position }: Measured): string {
  return position === 'only' ? listing : `${listing}, ${position} page`;
}

function rowsOf(measured: readonly Measured[], figure: Figure): Row[] {
  const shown = (cost: Cost) => figure.of(cost)!.toFixed(figure.digits);
  return measured.flatMap((one) => {
    const costs: Row = {
      name: nameOf(one),
      small: shown(one.small),
      large: shown(one.large),
      ratio: largeToSmall(one, figure).toFixed(2),
    };
    if (one.position !== 'last') return [costs];
    const group = later(measured).filter(({ listing }) => listing === one.listing);
    const ratios = group.map((position) => ({
      name: `${position.position} to first`,
      small: toFirst(position, measured, figure, 'small').toFixed(2),
      large: toFirst(position, measured, figure, 'large').toFixed(2),
      ratio: '',
    }));
    return [costs, ...ratios];
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
    ...columns.flatMap((column) => [column[index]!.small, column[index]!.large, column[index]!.ratio]),
  ]);
  return markdown([heading, ...rows]);
}

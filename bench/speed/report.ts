/** What was measured as tables for a person, as a document for programs, and as a drawing. */
import { median } from '../lib/statistics.ts';
import { markdown } from '../lib/table.ts';
import { type Bar, chartOf } from './chart.ts';
import type { Contender, Cost } from './contenders/contenders.ts';
import { type Measured, ratiosOf, type Verdict } from './goals.ts';

interface Spread {
  readonly median: number;
  readonly low: number;
  readonly high: number;
}

/** A contender, with what its requests cost. */
export interface Row {
  readonly id: string;
  readonly name: string;
  readonly us?: Spread;
  readonly databaseUs?: Spread;
  readonly timesFloor?: Spread;
}

function spreadOf(values: readonly number[]): Spread | undefined {
  if (values.length === 0) return undefined;
  return { median: median(values), low: Math.min(...values), high: Math.max(...values) };
}

export function rowsOf(contenders: readonly Contender[], measured: Measured): Row[] {
  return contenders.map(({ id, name, floor }) => {
    const costs = measured.costs.get(id) ?? [];
    const known = (of: (cost: Cost) => number | undefined) =>
      spreadOf(costs.map(of).filter((value) => value !== undefined));
    const [us, databaseUs] = [known((cost) => cost.us), known((cost) => cost.databaseUs)];
    const timesFloor = spreadOf(floor === undefined ? [] : ratiosOf(measured, id, floor));
    return {
      id,
      name,
      ...(us && { us }),
      ...(databaseUs && { databaseUs }),
      ...(timesFloor && { timesFloor }),
    };
  });
}

const aSecond = ({ median }: Spread) => Math.round(1_000_000 / median);
const range = ({ low, high }: Spread, digits: number) => `${low.toFixed(digits)} to ${high.toFixed(digits)}`;

export function contendersTable(rows: readonly Row[]): string {
  const heading = [
    'contender',
    'CPU, µs',
    'lowest to highest',
    '× floor',
    'a second per core',
    'Postgres, µs',
  ];
  const cells = rows.map(({ name, us, timesFloor, databaseUs }) => [
    name,
    us?.median.toFixed(1) ?? '',
    us === undefined ? '' : range(us, 1),
    timesFloor?.median.toFixed(2) ?? '',
    us === undefined ? '' : aSecond(us).toLocaleString('en'),
    databaseUs?.median.toFixed(1) ?? '',
  ]);
  return markdown([heading, ...cells]);
}

export function goalsTable(verdicts: readonly Verdict[]): string {
  const cells = verdicts.map((verdict) => {
    const { what, bound, goal, figure, low, high, isMet } = verdict;
    const spread = low === high ? '' : range({ median: figure, low, high }, 2);
    return [what, `${bound} ${goal.toFixed(2)}`, figure.toFixed(2), spread, isMet ? 'met' : 'falls short'];
  });
  return markdown([['goal', 'goal', 'figure', 'lowest to highest', 'verdict'], ...cells]);
}

/** What stands behind goals that are not about contenders. */
export function remarksOf({ memory, start }: Measured): string[] {
  const remarks: string[] = [];
  if (memory !== undefined) {
    const peaks = memory.quarterPeaks.map((peak) => peak.toFixed(0)).join(', ');
    remarks.push(`Memory in ${memory.requests.toLocaleString('en')} requests, by quarters: ${peaks} MB.`);
  }
  if (start !== undefined) {
    const [serve, node] = [start.serveMs, start.nodeMs].map((values) => median(values).toFixed(0));
    remarks.push(`serve answers ${serve} ms after its start; node -e 0 takes ${node} ms.`);
  }
  return remarks;
}

export interface Circumstances {
  readonly cpu: string;
  readonly cores: number;
  readonly node: string;
  readonly sqlite: string;
  readonly postgres: string;
  readonly load: string;
  readonly rounds: number;
  readonly seconds: number;
}

export function resultsOf(
  date: Date,
  circumstances: Circumstances,
  rows: readonly Row[],
  verdicts: readonly Verdict[],
): string {
  const results = {
    date: date.toISOString(),
    ...circumstances,
    contenders: rows.map(({ id, name, us, databaseUs, timesFloor }) => ({
      id,
      name,
      ...(us && { us: rounded(us), requests_per_second_per_core: aSecond(us) }),
      ...(timesFloor && { times_floor: rounded(timesFloor) }),
      ...(databaseUs && { postgres_us: rounded(databaseUs) }),
    })),
    goals: verdicts.map(({ what, bound, goal, figure, low, high, isMet }) => ({
      what,
      bound,
      goal: toThousandths(goal),
      ...rounded({ median: figure, low, high }),
      is_met: isMet,
    })),
  };
  return `${JSON.stringify(results, null, 2)}\n`;
}

const toThousandths = (value: number) => Math.round(value * 1_000) / 1_000;

function rounded({ median, low, high }: Spread): Spread {
  return { median: toThousandths(median), low: toThousandths(low), high: toThousandths(high) };
}

const barKinds: readonly [prefix: string, kind: Bar['kind']][] = [
  ['floor.brands', 'floor'],
  ['embedded.first', 'ours'],
  ['postgres.first', 'ours'],
  ['peer.', 'peer'],
];

export function chartOfRows(rows: readonly Row[]): string {
  const bars = barKinds.flatMap(([prefix, kind]) =>
    rows
      .filter(({ id, us }) => id.startsWith(prefix) && us !== undefined)
      .map(({ id, name, us, databaseUs }): Bar => {
        const remark = databaseUs && `+ ${Math.round(databaseUs.median).toLocaleString('en')} in Postgres`;
        return {
          name: barNames[id] ?? name.replace('peer: ', ''),
          us: us!.median,
          kind,
          ...(remark && { remark }),
        };
      }),
  );
  const figures = bars.map(
    ({ name, us, remark }) => `${name}: ${Math.round(us)} µs${remark ? ` ${remark}` : ''}`,
  );
  const words = {
    title: 'CPU time of the process for a page of 50 brands (less is better)',
    remark: 'The median of several rounds. Each line is ten times the one before it.',
    description: `Bars on a logarithmic axis. ${figures.join('; ')}.`,
  };
  return chartOf(words, bars);
}

const barNames: Record<string, string> = {
  'floor.brands': 'bare node:http, same bytes',
  'embedded.first': 'Partner Network, embedded',
  'postgres.first': 'Partner Network, Postgres',
};

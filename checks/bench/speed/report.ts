/** The results as tables, as JSON and as a chart. */
import { median, type Spread, spreadOf } from '../lib/statistics.ts';
import { markdown } from '../lib/table.ts';
import { type Bar, chartOf } from './chart.ts';
import type { Contender, Cost } from './contenders/contenders.ts';
import { type Measured, ratiosOf, type Verdict } from './goals.ts';

/** A contender and the cost of its requests. */
interface Row {
  readonly id: string;
  readonly name: string;
  readonly us: Spread | undefined;
  readonly databaseUs: Spread | undefined;
  readonly timesFloor: Spread | undefined;
}

const spreadIfAny = (values: readonly number[]) => (values.length === 0 ? undefined : spreadOf(values));

export function rowsOf(contenders: readonly Contender[], measured: Measured): Row[] {
  return contenders.map(({ id, name, floor }) => {
    const costs = measured.costs.get(id) ?? [];
    const known = (of: (cost: Cost) => number | undefined) =>
      spreadIfAny(costs.map(of).filter((value) => value !== undefined));
    return {
      id,
      name,
      us: known((cost) => cost.us),
      databaseUs: known((cost) => cost.databaseUs),
      timesFloor: spreadIfAny(floor === undefined ? [] : ratiosOf(measured, id, floor)),
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
    const { what, bound, goal, median, low, high, isMet } = verdict;
    const spread = low === high ? '' : range(verdict, 2);
    const digits = !isMet && median.toFixed(2) === goal.toFixed(2) ? 3 : 2;
    return [
      what,
      `${bound} ${goal.toFixed(2)}`,
      median.toFixed(digits),
      spread,
      isMet ? 'met' : 'falls short',
    ];
  });
  return markdown([['goal', 'goal', 'figure', 'lowest to highest', 'verdict'], ...cells]);
}

/** The figures behind the goals of memory and start. */
export function remarksOf({ memory, start }: Measured): string[] {
  const remarks: string[] = [];
  if (memory !== undefined) {
    const peaks = memory.quarterPeaks.map((peak) => peak.toFixed(0)).join(', ');
    remarks.push(`Memory in ${memory.requests.toLocaleString('en')} requests, by quarters: ${peaks} MB.`);
  }
  if (start !== undefined) {
    const times = start.serveMs.map(({ name, serveMs }) => `${name} ${median(serveMs).toFixed(0)} ms`);
    const nodeMs = median(start.nodeMs).toFixed(0);
    remarks.push(`Start to first answer: ${times.join(', ')}; node -e 0 takes ${nodeMs} ms.`);
  }
  return remarks;
}

export function resultsOf(
  date: Date,
  circumstances: object,
  rows: readonly Row[],
  verdicts: readonly Verdict[],
): string {
  const results = {
    date: date.toISOString(),
    ...circumstances,
    contenders: rows.map(({ id, name, us, databaseUs, timesFloor }) => ({
      id,
      name,
      us: us && rounded(us),
      requests_per_second_per_core: us && aSecond(us),
      times_floor: timesFloor && rounded(timesFloor),
      postgres_us: databaseUs && rounded(databaseUs),
    })),
    goals: verdicts.map(({ what, bound, goal, isMet, ...spread }) => ({
      what,
      bound,
      goal: toThousandths(goal),
      ...rounded(spread),
      is_met: isMet,
    })),
  };
  return `${JSON.stringify(results, null, 2)}\n`;
}

const toThousandths = (value: number) => Math.round(value * 1_000) / 1_000;

function rounded({ median, low, high }: Spread): Spread {
  return { median: toThousandths(median), low: toThousandths(low), high: toThousandths(high) };
}

/** The contenders of the chart, by the beginning of their ids. */
const charted: readonly { id: string; kind: Bar['kind']; name?: string }[] = [
  { id: 'floor.brands', kind: 'floor', name: 'bare node:http, same bytes' },
  { id: 'embedded.first', kind: 'ours', name: 'Partner Network, embedded' },
  { id: 'postgres.first', kind: 'ours', name: 'Partner Network, Postgres' },
  { id: 'peer.', kind: 'peer' },
];

export function chartOfRows(rows: readonly Row[]): string {
  const bars = charted.flatMap(({ id, kind, name }) =>
    rows
      .filter((row) => row.id.startsWith(id) && row.us !== undefined)
      .map(({ name: ownName, us, databaseUs }): Bar => {
        const inPostgres = databaseUs && Math.round(databaseUs.median).toLocaleString('en');
        return {
          name: name ?? ownName.replace('peer: ', ''),
          us: us!.median,
          kind,
          remark: inPostgres && `+ ${inPostgres} in Postgres`,
        };
      }),
  );
  const figures = bars.map(({ name, us, remark = '' }) =>
    `${name}: ${Math.round(us)} µs ${remark}`.trimEnd(),
  );
  const words = {
    title: 'CPU time of the process for a page of 50 brands (less is better)',
    remark: 'The median of several rounds. Each line is ten times the previous one.',
    description: `Bars on a logarithmic axis. ${figures.join('; ')}.`,
  };
  return chartOf(words, bars);
}

/** How fast an import is beside the bulk path of its engine, which checks nothing, and how much it holds. */
import { totalmem } from 'node:os';
import { withoutOwnServers } from '../../packages/testkit/servers/postgres-start.ts';
import type { Given } from '../lib/flags.ts';
import { machine } from '../lib/machine.ts';
import { runProgram, say } from '../lib/program.ts';
import { median } from '../lib/statistics.ts';
import { orders } from './data.ts';
import type { Outcome } from './engines.ts';
import { engines, leastShare, type Measured, measure, type Plan, shareOf, ways } from './measure.ts';

const mostMegabytes = 200;

const help = `Usage: node bench/import/main.ts [FLAGS]

Makes a file of balances, takes it into each engine by three ways in turn, and prints the median rates:
  bare      the engine's own bulk path (Postgres: COPY from psql; SQLite: prepared inserts in one
            transaction) into a table with the same columns and key, and no checks
  ours      the same into our own table, which checks each row again and renders its record
  imported  "partner-network import", all checks on, with the start of its process
Rows come in the order of the table's key (sorted), in which bulk paths are at their best, and in another
(scattered). Ends with status 1 when an import is slower than a third of the bare bulk path, or its process
takes more than ${mostMegabytes} MB.

  --rows N         1,000,000 unless given
  --rounds N       3 unless given
  --engine NAME    only sqlite or postgres
  --order NAME     only ${orders.join(' or ')}
  --memory         only the import, once each, for how much it holds
  --help           this text`;

function readFlags(given: Given<'rows' | 'rounds' | 'engine' | 'order' | 'memory'>): Plan {
  const only = <Name extends string>(flag: 'engine' | 'order', names: readonly Name[]) =>
    given.has(flag) ? [given.oneOf(flag, names, names[0]!)] : names;
  const rounds = given.wholeNumber('rounds', 1, 1_000, 3);
  return {
    rows: given.wholeNumber('rows', 1, 999_999_999, 1_000_000),
    rounds: given.has('memory') ? 1 : rounds,
    engines: only('engine', engines),
    orders: only('order', orders),
    ways: given.has('memory') ? ['imported'] : ways,
  };
}

function spread(outcomes: readonly Outcome[]): { middle: number; text: string } {
  const seconds = outcomes.map((outcome) => outcome.seconds);
  const middle = median(seconds);
  const [fastest, slowest] = [Math.min(...seconds), Math.max(...seconds)];
  return { middle, text: `${middle.toFixed(1)} s (${fastest.toFixed(1)} to ${slowest.toFixed(1)})` };
}

/** Prints what was measured; says what is not as it should be. */
function report(measured: readonly Measured[], { rows, ways }: Plan): string[] {
  const faults: string[] = [];
  const rate = (seconds: number) => Math.round(rows / seconds).toLocaleString('en');
  const { cpu, cores } = machine();
  process.stdout.write(`${cpu}, ${cores} cores, `);
  process.stdout.write(`${Math.round(totalmem() / 2 ** 30)} GB, Node ${process.version}\n`);
  for (const { engine, order, outcomes } of measured) {
    const title = `${engine}, ${order}`;
    process.stdout.write(`\n${title}, ${rows.toLocaleString('en')} balances\n`);
    for (const way of ways) {
      const { middle, text } = spread(outcomes[way]);
      const share = shareOf(outcomes, way);
      const ratio = way === 'imported' ? '' : `, of which the import has ${share.toFixed(2)}`;
      process.stdout.write(`  ${way.padEnd(9)} ${rate(middle).padStart(9)} a second, ${text}${ratio}\n`);
      if (way === 'bare' && share < leastShare) faults.push(`${title}: under a third of bare.`);
    }
    const peak = Math.max(...outcomes.imported.map(({ peakMegabytes = 0 }) => peakMegabytes));
    process.stdout.write(`  peak      ${peak.toFixed(0).padStart(9)} MB\n`);
    if (peak > mostMegabytes) faults.push(`${title}: more than ${mostMegabytes} MB.`);
  }
  return faults;
}

await runProgram({
  help,
  options: { rows: 'value', rounds: 'value', engine: 'value', order: 'value', memory: 'switch' },
  readFlags,
  lackFor: ({ engines }) => engines.includes('postgres') && withoutOwnServers(),
  run: async (flags) => {
    const faults = report(await measure(flags), flags);
    for (const fault of faults) say(fault);
    return faults.length === 0;
  },
});

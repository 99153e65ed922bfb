/** Compares the speed of an import with the engine's bulk path, which checks nothing, and its memory. */
import { availableParallelism, cpus, totalmem } from 'node:os';
import { flag, oneOf, optional, wholeNumber } from '../../../packages/common/src/command-line/options.ts';
import { withoutOwnServers } from '../../../packages/testkit/servers/postgres-start.ts';
import { print, runProgram, say, withDefault } from '../../lib/program.ts';
import { engines } from '../lib/service.ts';
import { spreadOf } from '../lib/statistics.ts';
import { measureChanges, mostOldShare, mostUndoShare } from './changes.ts';
import { orders } from './data.ts';
import { leastShare, type Measured, measure, type Plan, shareOf, ways } from './measure.ts';

const mostMegabytes = 160;

const about = `
Makes a file of balances, loads it into each engine in two ways in turn, and prints the median rates:
  bare      the engine's own bulk path (Postgres: COPY from psql; SQLite: prepared inserts in one
            transaction) into a table with the same columns and key, and no checks
  imported  "partner-network import" with all checks, including the start of its process
Rows come in the order of the table's key (sorted), which is best for bulk paths, and in another order
(scattered). Ends with status 1 if an import is slower than half of the bare bulk path, or its process
takes more than ${mostMegabytes} MB.

With --changes it measures other imports of the same number of balances instead: changes, the same with an
undo file, the import of that file, and on Postgres deletions with old and with current statistics. Ends with
status 1 if an undo file takes more than ${mostUndoShare} times as long, or old statistics
more than ${mostOldShare} times.`;

/** Prints the measurements and returns a sentence for each missed goal. */
function report(measured: readonly Measured[], { rows, ways }: Plan): string[] {
  const faults: string[] = [];
  const rate = (seconds: number) => Math.round(rows / seconds).toLocaleString('en');
  const memory = `${Math.round(totalmem() / 2 ** 30)} GB`;
  print(`${cpus()[0]?.model}, ${availableParallelism()} cores, ${memory}, Node ${process.version}`);
  for (const { engine, order, outcomes } of measured) {
    const title = `${engine}, ${order}`;
    print(`\n${title}, ${rows.toLocaleString('en')} balances`);
    for (const way of ways) {
      const { median, low, high } = spreadOf(outcomes[way].map(({ seconds }) => seconds));
      const times = `${median.toFixed(1)} s (${low.toFixed(1)} to ${high.toFixed(1)})`;
      print(`  ${way.padEnd(9)} ${rate(median).padStart(9)} a second, ${times}`);
    }
    const share = shareOf(outcomes);
    if (outcomes.bare.length > 0) print(`  the import has ${share.toFixed(2)} of the bare rate`);
    if (share < leastShare) faults.push(`${title}: under half of bare.`);
    const peak = Math.max(...outcomes.imported.map(({ peakMegabytes = 0 }) => peakMegabytes));
    print(`  peak      ${peak.toFixed(0).padStart(9)} MB`);
    if (peak > mostMegabytes) faults.push(`${title}: more than ${mostMegabytes} MB.`);
  }
  return faults;
}

/** Measures changes and prints them. Returns a sentence for each missed goal. */
async function reportChanges({ engines, rows, rounds }: Plan): Promise<string[]> {
  const faults: string[] = [];
  for (const engine of engines) {
    const steps = await measureChanges(engine, rows, rounds);
    print(`\n${engine}, ${rows.toLocaleString('en')} balances`);
    for (const [name, seconds] of Object.entries(steps))
      print(`  ${seconds.toFixed(1).padStart(7)} s  ${name}`);
    const compare = (name: string, other: string, most: number) => {
      if (steps[name] === undefined) return;
      const share = steps[name] / steps[other]!;
      print(`  ${share.toFixed(2).padStart(7)}    ${name} / ${other}`);
      if (share > most) faults.push(`${engine}: ${name} takes more than ${most} times as long as ${other}.`);
    };
    compare('changed, with an undo file', 'changed', mostUndoShare);
    compare('taken back', 'changed', mostUndoShare);
    compare('deleted, with old statistics', 'deleted, with current statistics', mostOldShare);
  }
  return faults;
}

await runProgram({
  usage: 'npm run bench -- import',
  about,
  options: {
    rows: withDefault('N', wholeNumber(1, 999_999_999), 1_000_000, 'balances in the file'),
    rounds: withDefault('N', wholeNumber(1, 1_000), 3, 'rounds of each way'),
    engine: optional('NAME', oneOf(engines), 'only sqlite or postgres'),
    order: optional('NAME', oneOf(orders), `only ${orders.join(' or ')}`),
    memory: flag('only the import, once each, to measure its memory'),
    changes: flag('only imports of records that exist'),
  },
  missing: ({ engine }) => engine !== 'sqlite' && withoutOwnServers(),
  run: async ({ rows, rounds, engine, order, memory, changes }) => {
    const plan: Plan = {
      rows,
      rounds: memory ? 1 : rounds,
      engines: engine === undefined ? engines : [engine],
      orders: order === undefined ? orders : [order],
      ways: memory ? ['imported'] : ways,
    };
    const faults = changes ? await reportChanges(plan) : report(await measure(plan), plan);
    for (const fault of faults) say(fault);
    return faults.length === 0;
  },
});

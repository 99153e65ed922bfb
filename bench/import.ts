/** How fast an import is beside the bulk path of its engine, which checks nothing, and how much it holds. */
import { existsSync } from 'node:fs';
import { availableParallelism, cpus, totalmem } from 'node:os';
import { delimiter, join } from 'node:path';
import { temporaryFolder } from '../packages/server/test/support/folder.ts';
import { programsFolder } from '../packages/server/test/support/postgres-programs.ts';
import { startPostgres, withoutOwnServers } from '../packages/server/test/support/postgres-start.ts';
import type { Given } from './flags.ts';
import { type DataFiles, type Order, orders, writeData } from './import-data.ts';
import { type Engine, type Outcome, postgresEngine, sqliteEngine } from './import-engines.ts';
import { runProgram, say, wholeRun } from './program.ts';
import { median } from './statistics.ts';

const goal = 1 / 3;
const mostMegabytes = 200;
const ways = ['bare', 'ours', 'imported'] as const;
type Way = (typeof ways)[number];

const help = `Usage: node bench/import.ts [FLAGS]

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

interface Flags {
  readonly rows: number;
  readonly rounds: number;
  readonly engines: readonly string[];
  readonly orders: readonly Order[];
  readonly ways: readonly Way[];
}

interface Measured {
  readonly engine: string;
  readonly order: Order;
  readonly outcomes: Readonly<Record<Way, readonly Outcome[]>>;
}

function readFlags(given: Given<'rows' | 'rounds' | 'engine' | 'order' | 'memory'>): Flags {
  const only = <Name extends string>(flag: 'engine' | 'order', names: readonly Name[]) =>
    given.has(flag) ? [given.oneOf(flag, names, names[0]!)] : names;
  const rounds = given.wholeNumber('rounds', 1, 1_000, 3);
  return {
    rows: given.wholeNumber('rows', 1, 999_999_999, 1_000_000),
    rounds: given.has('memory') ? 1 : rounds,
    engines: only('engine', ['sqlite', 'postgres']),
    orders: only('order', orders),
    ways: given.has('memory') ? ['imported'] : ways,
  };
}

/** As a server is set up for much data; a checkpoint comes between runs and not in them. */
async function startServer(): Promise<string> {
  const settings = { fsync: 'on', full_page_writes: 'on', autovacuum: 'off', wal_level: 'replica' };
  const sizes = {
    shared_buffers: '512MB',
    max_wal_size: '32GB',
    wal_keep_size: '0',
    checkpoint_timeout: '1d',
  };
  return (await startPostgres(wholeRun, { ...settings, ...sizes })).url();
}

function psqlProgram(): string {
  const folders = [programsFolder() ?? '', ...(process.env.PATH ?? '').split(delimiter)];
  const found = folders.map((folder) => join(folder, 'psql')).find((path) => existsSync(path));
  if (found === undefined)
    throw new Error('There is no psql here: install the client programs of PostgreSQL.');
  return found;
}

async function measure({ rows, rounds, engines, orders, ways }: Flags): Promise<Measured[]> {
  const folder = temporaryFolder(wholeRun);
  const data: [Order, DataFiles][] = [];
  for (const order of orders) data.push([order, await writeData(folder, rows, order)]);
  const measured: Measured[] = [];
  for (const name of engines) {
    const engine: Engine =
      name === 'sqlite'
        ? sqliteEngine(folder)
        : await postgresEngine(await startServer(), psqlProgram(), folder);
    for (const [order, files] of data) {
      const outcomes: Record<Way, Outcome[]> = { bare: [], ours: [], imported: [] };
      for (let round = 1; round <= rounds; round += 1) {
        for (const way of ways) {
          const outcome = await engine[way](files);
          outcomes[way].push(outcome);
          say(`${engine.name}, ${order}, round ${round}, ${way}: ${outcome.seconds.toFixed(1)} s`);
        }
      }
      measured.push({ engine: engine.name, order, outcomes });
    }
  }
  return measured;
}

function spread(outcomes: readonly Outcome[]): { middle: number; text: string } {
  const seconds = outcomes.map((outcome) => outcome.seconds);
  const middle = median(seconds);
  const [fastest, slowest] = [Math.min(...seconds), Math.max(...seconds)];
  return { middle, text: `${middle.toFixed(1)} s (${fastest.toFixed(1)} to ${slowest.toFixed(1)})` };
}

/** Prints what was measured; says what is not as it should be. */
function report(measured: readonly Measured[], { rows, ways }: Flags): string[] {
  const faults: string[] = [];
  const rate = (seconds: number) => Math.round(rows / seconds).toLocaleString('en');
  process.stdout.write(`${cpus()[0]?.model ?? 'CPU'}, ${availableParallelism()} cores, `);
  process.stdout.write(`${Math.round(totalmem() / 2 ** 30)} GB, Node ${process.version}\n`);
  for (const { engine, order, outcomes } of measured) {
    const title = `${engine}, ${order}`;
    process.stdout.write(`\n${title}, ${rows.toLocaleString('en')} balances\n`);
    const imported = spread(outcomes.imported);
    for (const way of ways) {
      const { middle, text } = spread(outcomes[way]);
      const ratio =
        way === 'imported' ? '' : `, of which the import has ${(middle / imported.middle).toFixed(2)}`;
      process.stdout.write(`  ${way.padEnd(9)} ${rate(middle).padStart(9)} a second, ${text}${ratio}\n`);
      if (way === 'bare' && middle / imported.middle < goal) faults.push(`${title}: under a third of bare.`);
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

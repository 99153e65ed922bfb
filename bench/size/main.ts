/** Whether a page costs the same wherever it is, and however many rows there are. */
import { randomBytes } from 'node:crypto';
import { totalmem } from 'node:os';
import { startPostgres, withoutOwnServers } from '../../packages/testkit/servers/postgres-start.ts';
import type { Given } from '../lib/flags.ts';
import { runProgram, say, wholeRun } from '../lib/program.ts';
import { makeData, ofPartner, onConnection, rowsOf, settle } from './data.ts';
import { type Measured, measure } from './measure.ts';
import { openSized, type SizedDatabase } from './pages.ts';
import { blocksFigure, cpuFigure, faultsOf, goal, tableOf, timeFigure } from './table.ts';

const partnersAtFullScale = 1_000;
const hundredth = 100;
const defaultRounds = 1_000;
const roundsToJudge = 200;
/** How many partners are asked for, as many of either size, so that as much of either is in caches. */
const mostSubjects = 10;

const help = `Usage: node bench/size/main.ts [FLAGS]

Makes two databases, one with a hundredth of the other's rows, lists brands and balances from both through
the service's own store, and prints what a page costs: its time, the CPU time of Postgres, and the blocks
that it touches. Ends with status 1 when a ratio is above ${goal.toFixed(2)} (for blocks, of a whole page).

  --scale N       so much of 1,000,000 brands and 10,000,000 balances, 1 unless given; the small database
                  has one partner at the least
  --rounds N      pages of each kind, ${defaultRounds} unless given
                  (times of fewer than ${roundsToJudge} are not judged)
  --database URL  a Postgres server on which to make the databases, and to drop them at the end; unless
                  given, it starts one in a temporary folder, which takes 15 GB, and measures its CPU, too
  --help          this text`;

interface Flags {
  readonly partners: { readonly small: number; readonly large: number };
  readonly rounds: number;
  readonly database: string | undefined;
}

/** On a terminal, how far it is; a pipe is told when it is done. */
function progress(of: number, unit: string): { add(count: number): void; end(): void } {
  const startedMs = performance.now();
  let done = 0;
  const amount = () => `${done.toLocaleString('en')} of ${of.toLocaleString('en')} ${unit}`;
  const seconds = () => `${((performance.now() - startedMs) / 1_000).toFixed(0)} s`;
  return {
    add: (count) => {
      done += count;
      if (process.stderr.isTTY) process.stderr.write(`\r  ${amount()}, ${seconds()}`);
    },
    end: () => say(`${process.stderr.isTTY ? '\r' : ''}  ${amount()}, ${seconds()}`),
  };
}

function readFlags(given: Given<'scale' | 'rounds' | 'database'>): Flags {
  const scale = Number(given.text('scale') ?? '1');
  if (!(scale > 0 && scale <= 100)) given.refuse('--scale must be a number above 0, and at most 100.');
  const large = Math.ceil(partnersAtFullScale * scale);
  return {
    partners: { small: Math.ceil(large / hundredth), large },
    rounds: given.wholeNumber('rounds', 1, 1_000_000, defaultRounds),
    database: given.text('database'),
  };
}

/** For speed while the data is made, and so that nothing goes on behind while pages are measured. */
async function startServer(): Promise<string> {
  const sharedMegabytes = Math.floor(Math.min(2 ** 31, totalmem() / 4) / 2 ** 20);
  const server = await startPostgres(wholeRun, {
    shared_buffers: `${sharedMegabytes}MB`,
    max_wal_size: '8GB',
    wal_keep_size: '0',
    checkpoint_timeout: '1h',
    autovacuum: 'off',
  });
  return server.url();
}

async function createDatabase(serverUrl: string, size: string): Promise<string> {
  const name = `partner_network_bench_${size}_${randomBytes(4).toString('hex')}`;
  const administer = (statement: string) => onConnection(serverUrl, (client) => client.query(statement));
  await administer(`create database ${name} template template0 encoding 'UTF8'`);
  wholeRun.after(async () => {
    await administer(`drop database ${name} with (force)`);
  });
  const url = new URL(serverUrl);
  url.pathname = name;
  return url.href;
}

async function makeDatabase(serverUrl: string, size: 'small' | 'large', partners: number): Promise<string> {
  const count = (ofOne: number) => (partners * ofOne).toLocaleString('en');
  say(
    `Making ${size}. Partners: ${count(1)}; brands: ${count(ofPartner.brands)}; ` +
      `customers with a grant: ${count(ofPartner.customers)}; balances: ${count(ofPartner.balances)}.`,
  );
  const url = await createDatabase(serverUrl, size);
  const rows = progress(rowsOf(partners), 'rows');
  await makeData(url, partners, rows.add);
  rows.end();
  say('  vacuum and analyze');
  await settle(url);
  return url;
}

async function compare({ partners, rounds, database }: Flags): Promise<Measured[]> {
  if (database === undefined) say('Starting a Postgres of our own.');
  const serverUrl = database ?? (await startServer());
  const smallUrl = await makeDatabase(serverUrl, 'small', partners.small);
  const largeUrl = await makeDatabase(serverUrl, 'large', partners.large);
  // Otherwise it would come while pages are measured.
  if (database === undefined) await onConnection(serverUrl, (client) => client.query('checkpoint'));
  say('Measuring: walks to find the pages and rounds that do not count, then one page of each kind in turn.');
  const subjects = Math.min(partners.small, mostSubjects);
  const open = async (url: string, partnerCount: number): Promise<SizedDatabase> => {
    const sized = await openSized(url, partnerCount, subjects, database === undefined);
    wholeRun.after(sized.close);
    return sized;
  };
  const [small, large] = [await open(smallUrl, partners.small), await open(largeUrl, partners.large)];
  const played = progress(rounds, 'rounds');
  const measured = await measure(small, large, rounds, () => played.add(1));
  played.end();
  return measured;
}

function report(measured: readonly Measured[], rounds: number): boolean {
  const timed = measured[0]!.large.cpuUs === undefined ? [timeFigure] : [timeFigure, cpuFigure];
  process.stdout.write(`${tableOf(measured, [...timed, blocksFigure])}\n`);
  const isJudged = rounds >= roundsToJudge;
  if (!isJudged) say(`Times of fewer than ${roundsToJudge} rounds are not judged.`);
  const faults = faultsOf(measured, isJudged ? [...timed, blocksFigure] : [blocksFigure]);
  for (const fault of faults) say(fault);
  if (faults.length === 0) say(`No ratio is above ${goal.toFixed(2)}, but for the blocks of short answers.`);
  return faults.length === 0;
}

await runProgram({
  help,
  options: { scale: 'value', rounds: 'value', database: 'value' },
  readFlags,
  lackFor: ({ database }) => {
    const lack = database === undefined && withoutOwnServers();
    return lack && `${lack}; or name a server with --database.`;
  },
  run: async (flags) => report(await compare(flags), flags.rounds),
});

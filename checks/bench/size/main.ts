/** Measures whether a page costs the same at every position and in a database of any size. */
import { randomBytes } from 'node:crypto';
import { totalmem } from 'node:os';
import { optional, Problem, wholeNumber } from '../../../packages/common/src/command-line/options.ts';
import {
  onConnection,
  startPostgres,
  withoutOwnServers,
} from '../../../packages/testkit/servers/postgres-start.ts';
import { print, runProgram, say, wholeRun, withDefault } from '../../lib/program.ts';
import { makeData, ofPartner } from './data.ts';
import { type Measured, measure } from './measure.ts';
import { openSized } from './pages.ts';
import { blocksFigure, cpuFigure, faultsOf, goal, tableOf, timeFigure } from './table.ts';

const partnersAtFullScale = 1_000;
const hundredth = 100;
const roundsToJudge = 200;
/** The number of partners whose pages are read: the same for both sizes, to fill caches equally. */
const mostSubjects = 10;

const about = `
Makes two databases, one with a hundredth of the other's rows, lists brands and balances from both through
the service's own store, and prints the cost of a page: its time, the CPU time of Postgres, and the blocks
that it touches. Ends with status 1 if a ratio is above ${goal.toFixed(2)} (for blocks, of a whole page).
Without --database it starts a server in a temporary folder, which takes 15 GB, and measures its CPU time,
too.`;

function scaleIn(text: string): number | Problem {
  const scale = Number(text);
  return scale > 0 && scale <= 100 ? scale : new Problem('must be a number above 0, and at most 100.');
}

/** Configured for bulk loading, and without background work during the measurement. */
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
  await makeData(url, partners);
  return url;
}

async function compare(scale: number, rounds: number, database?: string): Promise<Measured[]> {
  const count = Math.ceil(partnersAtFullScale * scale);
  const partners = { small: Math.ceil(count / hundredth), large: count };
  if (database === undefined) say('Starting a Postgres server.');
  const serverUrl = database ?? (await startServer());
  const smallUrl = await makeDatabase(serverUrl, 'small', partners.small);
  const largeUrl = await makeDatabase(serverUrl, 'large', partners.large);
  // Otherwise a checkpoint could run during the measurement.
  if (database === undefined) await onConnection(serverUrl, (client) => client.query('checkpoint'));
  say('Measuring: finding the pages, warming up, then one page of each kind in turn.');
  const subjects = Math.min(partners.small, mostSubjects);
  const open = async (url: string, partnerCount: number) => {
    const sized = await openSized(url, partnerCount, subjects, database === undefined);
    wholeRun.after(sized.close);
    return sized;
  };
  const [small, large] = [await open(smallUrl, partners.small), await open(largeUrl, partners.large)];
  return measure(small, large, rounds);
}

function report(measured: readonly Measured[], rounds: number): boolean {
  const timed = measured[0]!.large.cpuUs === undefined ? [timeFigure] : [timeFigure, cpuFigure];
  print(tableOf(measured, [...timed, blocksFigure]));
  const isJudged = rounds >= roundsToJudge;
  if (!isJudged) say(`Times of fewer than ${roundsToJudge} rounds are not judged.`);
  const faults = faultsOf(measured, isJudged ? [...timed, blocksFigure] : [blocksFigure]);
  for (const fault of faults) say(fault);
  if (faults.length === 0)
    say(`No ratio is above ${goal.toFixed(2)}, except for the blocks of short answers.`);
  return faults.length === 0;
}

await runProgram({
  usage: 'npm run bench -- size',
  about,
  options: {
    scale: withDefault('N', scaleIn, 1, 'share of 1,000,000 brands and 10,000,000 balances'),
    rounds: withDefault(
      'N',
      wholeNumber(1, 1_000_000),
      1_000,
      `pages of each kind; times of fewer than ${roundsToJudge} are not judged`,
    ),
    database: optional(
      'URL',
      String,
      'a Postgres server to make the databases on; they are dropped at the end',
    ),
  },
  missing: ({ database }) => {
    const lack = database === undefined && withoutOwnServers();
    return lack && `${lack}; or name a server with --database.`;
  },
  run: async ({ scale, rounds, database }) => report(await compare(scale, rounds, database), rounds),
});

/** The contenders. A contender gets load for some seconds; its cost is its CPU time per answer. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { truncateSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { receiptsBounds } from '../../../packages/common/src/bounds/service.ts';
import { killAfter, temporaryFolder } from '../../../packages/testkit/fixtures/lifetime.ts';
import { installTools } from '../../lib/install-tools.ts';
import { say, wholeRun } from '../../lib/program.ts';
import { cpuSecondsOf, cpuSecondsOfFamily } from '../lib/cpu.ts';
import type { Partner } from '../lib/data.ts';
import type { Generator, Listener, Request } from '../lib/load.ts';
import type { Measurement } from '../lib/report.ts';
import { type Database, type Engine, startService } from '../lib/service.ts';
import {
  type Answer,
  ask,
  firstPages,
  oneBalances,
  pageRecords,
  requirePages,
  unknownKeys,
} from './requests.ts';

/** CPU microseconds per request, of the process that answers and of its database. */
export interface Cost {
  readonly us?: number;
  readonly databaseUs?: number;
}

/** What a cost is compared with. */
type Goal = Pick<Measurement, 'over' | 'atMost' | 'atLeast'>;

export interface Contender {
  readonly name: string;
  readonly goal?: Goal;
  readonly databaseGoal?: Goal | undefined;
  measure(seconds: number): Promise<Cost>;
}

/** Each connection always has a request under way: enough for a busy process, and no request waits long. */
const connections = 16;
/** The service sheds requests if it gets no CPU for a tenth of a second: then the load is repeated. */
const attempts = 5;
/** Work that a request leaves for later, such as its receipt, is done after this time and counts. */
const settleMs = 2 * receiptsBounds.flushMs;
/** The highest --brands-rate: the limiter counts every request, and the load stays below it. */
const ratePastLoad = 10_000;

export interface Load {
  readonly name: string;
  readonly listener: Listener;
  readonly requests: readonly Request[];
  /** The status that all answers must have: 200 by default. */
  readonly status?: number;
  readonly databasePid?: number | undefined;
}

/** Plays the load. `before` runs at the start of each attempt, so that only the last attempt counts. */
export async function playLoad(
  generator: Generator,
  { name, listener, requests, status = 200 }: Load,
  seconds: number,
  before: () => void,
): Promise<number> {
  for (let attempt = 1; ; attempt += 1) {
    before();
    const { answers } = await generator.play(listener, seconds, { requests, connections });
    const all = Object.values(answers).flat().length;
    const others = all - (answers[status]?.length ?? 0);
    if (all > others && others === 0) return all;
    const problem = `${name}: ${others} of ${all} answers were not ${status}`;
    if (attempt === attempts) throw new Error(`${problem}.`);
    say(`${problem}; again.`);
  }
}

/** The CPU microseconds of an answer under load. */
export async function costOf(generator: Generator, load: Load, seconds: number) {
  const { listener, databasePid } = load;
  const secondsUsed = () => ({
    own: cpuSecondsOf(listener.pid),
    database: databasePid === undefined ? 0 : cpuSecondsOfFamily(databasePid),
  });
  let before = secondsUsed();
  const answers = await playLoad(generator, load, seconds, () => {
    before = secondsUsed();
  });
  await wait(settleMs);
  const { own, database } = secondsUsed();
  return {
    us: ((own - before.own) * 1_000_000) / answers,
    databaseUs: ((database - before.database) * 1_000_000) / answers,
  };
}

/** Starts `serve` with a line for each request in a file, as by default in production. */
export async function startLogging(database: string, program?: string) {
  const logFile = join(temporaryFolder(wholeRun), 'service.log');
  const service = await startService(database, ['--brands-rate', String(ratePastLoad)], logFile, program);
  return { ...service, emptyLog: () => truncateSync(logFile) };
}

/** Starts a program of this folder, which sends its port when it listens. */
async function startProgram(
  file: string,
  variables: NodeJS.ProcessEnv,
  words: string[] = [],
): Promise<Listener> {
  const env = { NODE_ENV: 'production', ...variables };
  const child = fork(fileURLToPath(new URL(file, import.meta.url)), words, { env });
  const ended = killAfter(wholeRun, child).then(() => Promise.reject(new Error(`${file} ended.`)));
  const [port] = await Promise.race([once(child, 'message'), ended]);
  return { pid: child.pid!, port };
}

/** Everything but the value of the Date header. */
function comparable({ status, headers, body }: Answer): string {
  return JSON.stringify([status, headers.filter((_, index) => headers[index - 1] !== 'Date'), body]);
}

const floorOf = (what: string) => `floor: ${what}`;
const brands = 'brands, first page';
const balance = 'one balance';
/** The measurement that Postgres's own CPU time for a page is compared with. */
const pgbenchName = `pgbench: ${brands}, in Postgres`;
const ourPage = `postgres: ${brands}`;
/** Node adds these headers after all others. */
const addedByNode = ['Date', 'Connection', 'Keep-Alive'];

/** Starts a server that only sends this answer, after computing for `workMs`. */
export function startFloor(answer: Answer, workMs = 0): Promise<Listener> {
  const names = answer.headers.map((_, index) => answer.headers[index - (index % 2)]!);
  const headers = answer.headers.filter((_, index) => !addedByNode.includes(names[index]!));
  return startProgram('floor-server.ts', {}, [JSON.stringify({ ...answer, headers }), String(workMs)]);
}

/** The floors of a page of brands and of one balance: servers that only send the same bytes. */
export async function floors(
  generator: Generator,
  database: string,
  partners: readonly Partner[],
): Promise<Contender[]> {
  const { port } = await startLogging(database);
  const kinds = { [brands]: firstPages(partners), [balance]: oneBalances(partners) };
  const found: Contender[] = [];
  for (const [what, requests] of Object.entries(kinds)) {
    const answer = await ask(port, requests[0]!);
    const listener = await startFloor(answer);
    const name = floorOf(what);
    if (comparable(await ask(listener.port, { path: '/' })) !== comparable(answer))
      throw new Error(`${name} does not send the same bytes as our service.`);
    const load = { name, listener, requests };
    found.push({ name, measure: async (seconds) => ({ us: (await costOf(generator, load, seconds)).us }) });
  }
  return found;
}

interface Kind extends Omit<Load, 'name' | 'listener'> {
  readonly kind: string;
  readonly goal?: Goal;
}

/** How many times the cost of the floor a request of each kind may take. */
const goals = {
  sqlite: { brands: 3.8, balance: 3.6 },
  postgres: { brands: 4.5, balance: 3.8 },
  /** A page at /docs, compared with a 401. */
  page: 1.5,
  /** Postgres's own CPU time, compared with that of pgbench, which sends statements one by one. */
  pgbench: 1,
  /** The peer, compared with ours. */
  peer: 4,
} as const;

/** Our service on one engine. */
export async function ours(
  generator: Generator,
  engine: Engine,
  { url, pid: databasePid }: Database,
  partners: readonly Partner[],
  program?: string,
): Promise<Contender[]> {
  const service = await startLogging(url, program);
  const first = firstPages(partners);
  const balances = oneBalances(partners);
  for (const requests of [first, balances]) await requirePages(service.port, requests);

  const unknown = { kind: 'refused, 401', requests: unknownKeys(), status: 401 };
  const kinds: readonly Kind[] = [
    { kind: brands, goal: { over: floorOf(brands), atMost: goals[engine].brands }, requests: first },
    { kind: balance, goal: { over: floorOf(balance), atMost: goals[engine].balance }, requests: balances },
    unknown,
    {
      kind: '/docs',
      goal: { over: `${engine}: ${unknown.kind}`, atMost: goals.page },
      requests: [{ path: '/docs' }],
    },
  ];
  return kinds.map(({ kind, goal, ...load }) => {
    const name = `${engine}: ${kind}`;
    return {
      name,
      ...(goal && { goal }),
      databaseGoal: name === ourPage ? { over: pgbenchName, atMost: goals.pgbench } : undefined,
      measure: async (seconds) => {
        const cost = await costOf(generator, { name, listener: service, databasePid, ...load }, seconds);
        service.emptyLog();
        return databasePid === undefined ? { us: cost.us } : cost;
      },
    };
  });
}

/** The peer: a program that answers the same page of brands from the same database, and does nothing else. */
export async function peer(
  generator: Generator,
  { url, pid: databasePid }: Database,
  partners: readonly Partner[],
): Promise<Contender> {
  installTools('checks/bench');
  const { id } = partners[0]!;
  const listener = await startProgram('peer.js', { DATABASE_URL: url, PARTNER_ID: id });
  const requests = [{ path: `/network/v1/brands?limit=${pageRecords}` }];
  const service = await startLogging(url);
  const [theirs, wanted] = await Promise.all([
    ask(listener.port, requests[0]!),
    ask(service.port, firstPages(partners)[0]!),
  ]);
  service.signal('SIGINT');
  // The cursor of the peer is the last id.
  const pageOf = ({ body }: Answer) => JSON.stringify({ ...JSON.parse(body), cursor: undefined });
  if (pageOf(theirs) !== pageOf(wanted)) throw new Error('The peer does not answer the same page.');
  const name = 'peer: Fastify with Kysely';
  return {
    name,
    goal: { over: ourPage, atLeast: goals.peer },
    measure: (seconds) => costOf(generator, { name, listener, requests, databasePid }, seconds),
  };
}

/** The contenders. A contender gets load for some seconds; its cost is its CPU time per answer. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { truncateSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { receiptsBounds } from '../../../packages/common/src/bounds/service.ts';
import { killAfter, temporaryFolder } from '../../../packages/testkit/fixtures/lifetime.ts';
import { say, wholeRun } from '../../lib/program.ts';
import { cpuSecondsOf, cpuSecondsOfFamily } from '../lib/cpu.ts';
import type { Partner } from '../lib/data.ts';
import type { Generator, Listener, Request } from '../lib/load.ts';
import type { Measurement } from '../lib/report.ts';
import { type Engine, startService } from '../lib/service.ts';
import {
  type Answer,
  ask,
  firstPages,
  middlePages,
  oneBalances,
  requirePages,
  unknownKeys,
} from './requests.ts';

/** CPU microseconds per request, of the process that answers and of its database. */
export interface Cost {
  readonly us?: number;
  readonly databaseUs?: number;
}

/** What a cost is compared with. */
type Goal = Pick<Measurement, 'over' | 'atMost'>;

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
  /** How many answers a second may have another status. */
  readonly othersPerSecond?: number;
  readonly databasePid?: number | undefined;
}

/** Plays the load. `before` runs at the start of each attempt, so that only the last attempt counts. */
export async function playLoad(
  generator: Generator,
  { name, listener, requests, status = 200, othersPerSecond = 0 }: Load,
  seconds: number,
  before: () => void,
): Promise<number> {
  for (let attempt = 1; ; attempt += 1) {
    before();
    const { answers } = await generator.play(listener, seconds, { requests, connections });
    const all = Object.values(answers).flat().length;
    const others = all - (answers[status]?.length ?? 0);
    if (all > others && others <= othersPerSecond * (seconds + 1)) return all;
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

/** Logs a line for each request to a file, as by default in production. */
export async function startLogging(database: string, brandsRate = ratePastLoad) {
  const logFile = join(temporaryFolder(wholeRun), 'service.log');
  const service = await startService(database, ['--brands-rate', String(brandsRate)], logFile);
  return { ...service, emptyLog: () => truncateSync(logFile) };
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
/** Node adds these headers after all others. */
const addedByNode = ['Date', 'Connection', 'Keep-Alive'];

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
    const names = answer.headers.map((_, index) => answer.headers[index - (index % 2)]!);
    const headers = answer.headers.filter((_, index) => !addedByNode.includes(names[index]!));
    const program = fileURLToPath(new URL('floor-server.ts', import.meta.url));
    const child = fork(program, [JSON.stringify({ ...answer, headers })], {
      env: { NODE_ENV: 'production' },
    });
    killAfter(wholeRun, child);
    const [floorPort] = await once(child, 'message');
    const listener = { pid: child.pid!, port: floorPort };
    const name = floorOf(what);
    if (comparable(await ask(floorPort, { path: '/' })) !== comparable(answer))
      throw new Error(`${name} does not send the same bytes as our service.`);
    const load = { name, listener, requests };
    found.push({ name, measure: async (seconds) => ({ us: (await costOf(generator, load, seconds)).us }) });
  }
  return found;
}

interface Kind extends Omit<Load, 'name' | 'listener'> {
  readonly kind: string;
  readonly goal: Goal;
  /** By default the one that admits all requests. */
  readonly service?: Awaited<ReturnType<typeof startLogging>>;
}

/** How many times the cost of the floor, or of an admitted request, a request of each kind may take. */
const goals = {
  sqlite: { brands: 4, balance: 3.5 },
  postgres: { brands: 5, balance: 4.3 },
  refused: { 401: 0.55, 429: 0.6 },
  /** A page at /docs, compared with a 401. */
  page: 1.5,
} as const;

/** Our service on one engine. */
export async function ours(
  generator: Generator,
  engine: Engine,
  { url, pid: databasePid }: { readonly url: string; readonly pid: number | undefined },
  partners: readonly Partner[],
): Promise<Contender[]> {
  const serving = await startLogging(url);
  const refusing = await startLogging(url, 1);
  const first = firstPages(partners);
  const middle = await middlePages(serving.port, partners);
  const balances = oneBalances(partners);
  for (const requests of [first, middle, balances]) await requirePages(serving.port, requests);

  const most = goals[engine];
  const ofFloor = { over: floorOf(brands), atMost: most.brands };
  const ofBalance = { over: floorOf(balance), atMost: most.balance };
  const ofAdmitted = (status: 401 | 429) => ({ over: `${engine}: ${brands}`, atMost: goals.refused[status] });
  const kinds: readonly Kind[] = [
    { kind: brands, goal: ofFloor, requests: first },
    { kind: 'brands, middle page', goal: ofFloor, requests: middle },
    { kind: balance, goal: ofBalance, requests: balances },
    { kind: 'refused, 401', goal: ofAdmitted(401), requests: unknownKeys(), status: 401 },
    {
      kind: '/docs',
      goal: { over: `${engine}: refused, 401`, atMost: goals.page },
      requests: [{ path: '/docs' }],
    },
    {
      kind: 'refused, 429',
      goal: ofAdmitted(429),
      requests: first,
      status: 429,
      service: refusing,
      // Each partner gets one answer a second.
      othersPerSecond: partners.length,
    },
  ];
  return kinds.map(({ kind, goal, service = serving, ...load }) => {
    const name = `${engine}: ${kind}`;
    return {
      name,
      goal,
      databaseGoal: name === `postgres: ${brands}` ? { over: pgbenchName, atMost: 1.2 } : undefined,
      measure: async (seconds) => {
        const cost = await costOf(generator, { name, listener: service, databasePid, ...load }, seconds);
        service.emptyLog();
        return databasePid === undefined ? { us: cost.us } : cost;
      },
    };
  });
}

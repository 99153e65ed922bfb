/** Measures the CPU times that a plan of capacity needs, and prints the plan. */
import { writeFileSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';
import { listBrands } from '@partner-network/contract/operations';
import pino from 'pino';
import { flag, wholeNumber } from '../../../packages/common/src/command-line/options.ts';
import { digestOfKey } from '../../../packages/service/src/auth.ts';
import { openLimiters } from '../../../packages/service/src/limiter/open.ts';
import { parseRedisUrl } from '../../../packages/service/src/limiter/redis/url.ts';
import { parseDatabaseUrl, toServe } from '../../../packages/store/src/address.ts';
import { openStore } from '../../../packages/store/src/engines.ts';
import * as postgres from '../../../packages/testkit/servers/postgres-start.ts';
import { needsOwnRedis, startRedis } from '../../../packages/testkit/servers/redis.ts';
import { print, runProgram, say, wholeRun, withDefault } from '../../lib/program.ts';
import { cpuSecondsOf, cpuSecondsOfFamily, withoutProc } from '../lib/cpu.ts';
import { fillDatabase, newPartners } from '../lib/data.ts';
import { startGenerator } from '../lib/load.ts';
import { startService } from '../lib/service.ts';
import { costOf } from '../speed/contenders.ts';
import { firstPages, oneBalances } from '../speed/requests.ts';
import { type Inputs, inputsFile, inputsTable, planTable } from './plan.ts';

const warmUpTimes = 4;
/** Answers a second that may be no page: a busy machine sheds requests, which cost less. */
const othersPerSecond = 5;
/** Connections, each with one statement or decision at a time, as of the 8 workers of an instance. */
const workers = 8;

const about = `
Starts a primary, a replica and a Redis, and one process of the service with --replica and --redis. Reads
the CPU time of each while the process answers pages of 50 brands and single balances. Then looks up keys,
writes usage and decides on admissions without the service. Prints the CPU time for each, the smallest of all
rounds, and the plan of docs/how-to/operators/capacity.md that follows from it.`;

async function openStage() {
  const primary = await postgres.startPostgres(wholeRun);
  const partners = newPartners(4, 64);
  await fillDatabase(primary.url(), partners, 10_000);
  const replica = await postgres.startStandby(wholeRun, primary);
  const redis = await startRedis(wholeRun);
  const flags = ['--replica', replica.url(), '--redis', redis.url, '--brands-rate', '10000'];
  const listener = await startService(primary.url(), flags);
  const options = { replicas: [], connections: workers, keepsSession: true };
  const store = await openStore(parseDatabaseUrl(primary.url())!, 'production', { ...toServe, ...options });
  wholeRun.after(() => store.close());
  const config = {
    environment: 'sandbox',
    rates: { brands: 10_000 },
    redis: parseRedisUrl(redis.url),
  } as const;
  const limiters = await Promise.all(
    Array.from({ length: workers }, async () => {
      const { limiters, close } = await openLimiters(config, pino({ level: 'silent' }));
      wholeRun.after(close);
      return limiters.brands!;
    }),
  );
  const pids = { primary: primary.pid(), replica: replica.pid(), redis: redis.pid() };
  return { partners, listener, store, limiters, pids };
}

type Stage = Awaited<ReturnType<typeof openStage>>;

/** Repeats work, `count` times at once. Resolves to the CPU microseconds of a server for each success. */
async function workOf(
  secondsUsed: () => number,
  seconds: number,
  count: number,
  work: (index: number) => Promise<number | boolean>,
): Promise<number> {
  const before = secondsUsed();
  const endMs = performance.now() + seconds * 1_000;
  let done = 0;
  const inTurn = async (index: number) => {
    while (performance.now() < endMs) {
      const more = await work(index);
      done += Number(more);
    }
  };
  await Promise.all(Array.from({ length: count }, (_, index) => inTurn(index)));
  return ((secondsUsed() - before) * 1_000_000) / done;
}

/** What databases do for requests, and the process for a key, without the service. */
async function measureServers({ store, partners, limiters, pids }: Stage, seconds: number) {
  const ofPrimary = () => cpuSecondsOfFamily(pids.primary);
  const digests = partners.map(({ key }) => digestOfKey(key));
  const findKey = async (index: number) =>
    (await store.findKey(digests[index % digests.length]!)) !== undefined;
  const counts = Array.from({ length: 1_000 }, (_, index) => ({
    from: '2026-01-01T00:00:00.000Z',
    partner_id: 'PARTNER_0',
    key_id: `KEY_${index}`,
    operation: listBrands.id,
    code: 'OK',
    count: 1,
  }));
  const writeUsage = () => store.recordUsage(counts).then(() => counts.length);
  const decide = async (index: number) => {
    const { source } = await limiters[index]!.admit(`partner-${index}`, 10_000);
    if (source === 'local') await wait(1);
    return source === 'redis';
  };
  return {
    lookup: await workOf(ofPrimary, seconds, workers, findKey),
    ownLookup: await workOf(() => cpuSecondsOf(process.pid), seconds, workers, findKey),
    usageRow: await workOf(ofPrimary, seconds, 1, writeUsage),
    decision: await workOf(() => cpuSecondsOf(pids.redis), seconds, workers, decide),
  };
}

async function run({ rounds, seconds, record }: { rounds: number; seconds: number; record: boolean }) {
  const stage = await openStage();
  const { partners, listener, pids } = stage;
  const generator = startGenerator();
  const cost = (name: string, requests: ReturnType<typeof firstPages>, databasePid: number, length: number) =>
    costOf(generator, { name, listener, requests, databasePid, othersPerSecond }, length);
  const pages = firstPages(partners);
  const balances = oneBalances(partners);
  const measured: Inputs[] = [];
  for (let round = 0; round <= rounds; round += 1) {
    say(round === 0 ? 'Warming up.' : `Round ${round} of ${rounds}.`);
    const length = round === 0 ? warmUpTimes * seconds : seconds;
    const ofPage = await cost('brands', pages, pids.replica, length);
    const ofBalance = await cost('balances', balances, pids.primary, length);
    const inputs = {
      page: ofPage.us,
      replicaPage: ofPage.databaseUs,
      primaryPage: (await cost('brands', pages, pids.primary, seconds)).databaseUs,
      balance: ofBalance.us,
      primaryBalance: ofBalance.databaseUs,
      ...(await measureServers(stage, seconds)),
    };
    if (round > 0) measured.push(inputs);
  }
  const smallest = (name: keyof Inputs) => Math.round(Math.min(...measured.map((inputs) => inputs[name])));
  const names = Object.keys(measured[0]!) as (keyof Inputs)[];
  const inputs = Object.fromEntries(names.map((name) => [name, smallest(name)])) as unknown as Inputs;
  print(`${inputsTable(inputs)}\n\n${planTable(inputs)}`);
  const machine = { cpu: cpus()[0]?.model, cores: availableParallelism(), node: process.versions.node };
  const recorded = { date: new Date().toISOString(), ...machine, rounds, seconds, inputs };
  if (record) writeFileSync(inputsFile, `${JSON.stringify(recorded, null, 2)}\n`);
  return true;
}

await runProgram({
  usage: 'npm run bench -- capacity',
  about,
  options: {
    rounds: withDefault('N', wholeNumber(1, 100), 3, 'rounds after the warm-up'),
    seconds: withDefault(
      'N',
      wholeNumber(1, 60),
      2,
      `length of each load, ${warmUpTimes} times in the warm-up`,
    ),
    record: flag(
      'write checks/bench/capacity/inputs.json, from which "npm run docs" makes the tables of the page',
    ),
  },
  missing: () => withoutProc || postgres.withoutOwnServers() || needsOwnRedis.skip,
  run,
});

/** Measures how many more admissions a Redis Cluster decides than one node of it. */
import { setTimeout as wait } from 'node:timers/promises';
import pino from 'pino';
import { wholeNumber } from '../../../packages/common/src/command-line/options.ts';
import { openLimiters } from '../../../packages/service/src/limiter/open.ts';
import { parseRedisUrl } from '../../../packages/service/src/limiter/redis/url.ts';
import {
  type ClusterNode,
  needsOwnRedis,
  startRedisCluster,
} from '../../../packages/testkit/servers/redis.ts';
import { print, runProgram, say, wholeRun, withDefault } from '../../lib/program.ts';
import { cpuSecondsOf } from '../lib/cpu.ts';
import { median } from '../lib/statistics.ts';

/** The least share of the ideal: the admissions of one node times the number of nodes. */
const leastShare = 0.8;
const warmUpSeconds = 2;
/** Enough to spread evenly over the nodes. */
const partnersPerNode = 500;
/** With more decisions than this without Redis, the machine was too busy: the load is repeated. */
const mostLocal = 0.2;
const attempts = 10;
const tickMs = 4;

const about = `
Starts a Redis Cluster of one node and another of several, with the rate limit of a service in front. Both
in turn get --rate admissions a second for each node, of ${partnersPerNode} partners for each node. The CPU
time of every node is read. A Redis decides on one core, so a cluster decides as much as its busiest node
allows: one second of CPU time a second.

The nodes and the load share the cores of this machine, so admissions a second would say little about the
nodes. CPU time says what each could do on a core of its own. Ends with status 1 if several nodes admit less
than ${leastShare} times their number of what one admits.`;

interface Cost {
  /** CPU microseconds of the busiest node and of all nodes, for one admission of the whole cluster. */
  readonly busiest: number;
  readonly all: number;
  readonly perSecond: number;
}

async function openSide(count: number, rate: number) {
  const { url, nodes } = await startRedisCluster(wholeRun, count);
  const config = { environment: 'sandbox', rates: { brands: 50 }, redis: parseRedisUrl(url) } as const;
  const { limiters, close } = await openLimiters(config, pino({ level: 'silent' }));
  wholeRun.after(close);
  const partners = Array.from({ length: partnersPerNode * count }, (_, number) => `partner-${number}`);
  let sent = 0;
  return {
    count,
    nodes,
    costs: [] as Cost[],
    /** Sends the load. Resolves to whether Redis answered nearly all of it in time. */
    async load(seconds: number) {
      const decided: Promise<{ source: string }>[] = [];
      const startedMs = performance.now();
      for (let passedMs = 0; passedMs < seconds * 1_000; passedMs = performance.now() - startedMs) {
        while (decided.length < (passedMs / 1_000) * rate * count) {
          sent += 1;
          decided.push((async () => limiters.brands!.admit(partners[sent % partners.length]!))());
        }
        await wait(tickMs);
      }
      const decisions = await Promise.all(decided);
      const local = decisions.filter(({ source }) => source === 'local').length;
      return local < mostLocal * decisions.length;
    },
  };
}

type Side = Awaited<ReturnType<typeof openSide>>;

/** The CPU time of a node so far, and the admissions that it has decided. */
async function readNode({ pid, ask }: ClusterNode) {
  const info = String(await ask('INFO', 'commandstats'));
  const calls = [...info.matchAll(/^cmdstat_eval(?:sha)?:calls=(\d+)/gm)].map(([, count]) => Number(count));
  return { cpuSeconds: cpuSecondsOf(pid()), decided: calls.reduce((sum, count) => sum + count, 0) };
}

async function measureCost({ nodes, load }: Side, seconds: number): Promise<Cost> {
  for (let attempt = 1; attempt <= attempts; attempt += 1) {
    const before = await Promise.all(nodes.map(readNode));
    const isGood = await load(seconds);
    const after = await Promise.all(nodes.map(readNode));
    if (!isGood) continue;
    const used = after.map(({ cpuSeconds }, index) => cpuSeconds - before[index]!.cpuSeconds);
    const decided = after.reduce((sum, node, index) => sum + node.decided - before[index]!.decided, 0);
    return {
      busiest: (Math.max(...used) * 1_000_000) / decided,
      all: (used.reduce((sum, one) => sum + one, 0) * 1_000_000) / decided,
      perSecond: decided / seconds,
    };
  }
  throw new Error('Redis answered too late too often. Run this on a machine that does nothing else.');
}

interface Flags {
  readonly nodes: number;
  readonly rounds: number;
  readonly seconds: number;
  readonly rate: number;
}

async function measure({ nodes, rounds, seconds, rate }: Flags): Promise<boolean> {
  const sides = [await openSide(1, rate), await openSide(nodes, rate)] as const;
  for (const side of sides) await side.load(warmUpSeconds);
  for (let round = 1; round <= rounds; round += 1) {
    for (const side of sides) side.costs.push(await measureCost(side, seconds));
    say(`  ${round} of ${rounds} rounds`);
  }
  for (const { count, costs } of sides) {
    const middle = (of: (cost: Cost) => number, digits = 0) => median(costs.map(of)).toFixed(digits);
    print(
      `${count} ${count === 1 ? 'node' : 'nodes'}: ${middle(({ all }) => all, 1)} µs for an admission, ` +
        `${middle(({ busiest }) => busiest, 1)} µs of it in the busiest node; ` +
        `${middle(({ busiest }) => 1_000_000 / busiest)} admissions a second with a core for each ` +
        `(${middle(({ perSecond }) => perSecond)} here).`,
    );
  }
  const [ofOne, ofMany] = sides.map(({ costs }) => costs) as [Cost[], Cost[]];
  const times = median(ofOne.map((one, round) => one.busiest / ofMany[round]!.busiest));
  const goal = leastShare * nodes;
  const isMet = times >= goal;
  print(`${isMet ? 'ok     ' : 'not met'} ${times.toFixed(2)} times one node (goal: ${goal.toFixed(2)})`);
  return isMet;
}

await runProgram({
  usage: 'npm run bench -- redis',
  about,
  options: {
    nodes: withDefault('N', wholeNumber(2, 16), 3, 'nodes to compare with one'),
    rounds: withDefault('N', wholeNumber(1, 100), 5, 'rounds after the warm-up'),
    seconds: withDefault('N', wholeNumber(1, 60), 5, 'length of each load'),
    rate: withDefault('N', wholeNumber(1, 99_999), 2_000, 'admissions a second for each node'),
  },
  missing: () => needsOwnRedis.skip,
  run: measure,
});

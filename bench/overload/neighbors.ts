/** Whether one partner that asks for far more than its rate makes another one wait. */
import { needsOwnRedis, startRedis } from '../../packages/testkit/servers/redis.ts';
import { print, runProgram, say, wholeRun } from '../lib/program.ts';
import { median, ms, percent, quantile } from '../lib/statistics.ts';
import { type Played, rateOf, startGenerator, timesOf } from './load.ts';
import { brandsPath, type Engine, engines, lackFor, startLoadedService } from './load-service.ts';

const rate = 50;
const times = 20;
const goal = 0.1;
const sliceSeconds = 2;
/** The one who is measured stays within its own rate. */
const ownRate = 40;

const help = `Usage: node bench/overload/neighbors.ts [FLAGS]

Starts "partner-network serve" in a process of its own, with the rate limit of ${rate} a second.
One partner asks for ${ownRate} pages of brands a second, at random moments. In turns of ${sliceSeconds} s its
neighbor does nothing, asks for its ${rate} a second, and for ${times} times as many, nearly all of which
are refused. Prints how long the pages of the first one take beside each. Ends with status 1 when
p99 beside a neighbor at ${times} times its rate is more than ${goal * 100} % above that beside none, or when
the machine is too busy to tell: when p99 beside none differs by as much from turn to turn.

  --engine NAME   sqlite, or postgres (a server of its own, and a Redis that counts), sqlite unless given
  --seconds N     in all, 10 at the least, 120 unless given
  --help          this text`;

interface Flags {
  readonly engine: Engine;
  readonly seconds: number;
}

const neighbors = [
  { name: 'none', perSecond: 0 },
  { name: 'at its rate', perSecond: rate },
  { name: `at ${times} times its rate`, perSecond: rate * times },
] as const;

interface Slice {
  readonly own: Played;
  readonly neighbor: Played | undefined;
}

async function measureSlices({ engine, seconds }: Flags): Promise<Slice[][]> {
  const redis = engine === 'postgres' ? await startRedis(wholeRun) : undefined;
  const service = await startLoadedService(engine, redis === undefined ? [] : ['--redis', redis.url]);
  // Each has a process to ask from: a busy neighbor must not make the other one's watch go wrong.
  const [ours, theirs] = [startGenerator(service), startGenerator(service)];
  const stream = (index: number, perSecond: number, connections: number) => ({
    path: brandsPath,
    keys: [service.keys[index]!],
    connections,
    perSecond,
  });
  await ours.play(2, stream(0, ownRate, 8));
  const slices: Slice[][] = neighbors.map(() => []);
  const rounds = Math.max(1, Math.round(seconds / neighbors.length / sliceSeconds));
  for (let round = 1; round <= rounds; round += 1) {
    for (const [index, { perSecond }] of neighbors.entries()) {
      const asked = perSecond === 0 ? undefined : theirs.play(sliceSeconds, stream(1, perSecond, 64));
      const [own] = await ours.play(sliceSeconds, stream(0, ownRate, 8));
      slices[index]!.push({ own: own!, neighbor: (await asked)?.[0] });
    }
    if (round % 5 === 0 || round === rounds) say(`  ${round} of ${rounds} rounds`);
  }
  return slices;
}

const pagesOf = (slices: readonly Slice[]) => slices.flatMap(({ own }) => timesOf(own, '200'));
const p99Of = (slices: readonly Slice[]) => quantile(pagesOf(slices), 0.99);

function report(slices: readonly (readonly Slice[])[]): void {
  for (const [index, ofOne] of slices.entries()) {
    const took = pagesOf(ofOne);
    const [p50, p90, p99] = [0.5, 0.9, 0.99].map((share) => ms(quantile(took, share)));
    const refused = ofOne.map(({ neighbor }) => (neighbor === undefined ? 0 : rateOf(neighbor, '429')));
    const cpu = ofOne.map(({ own }) => own.cpuSeconds / own.seconds);
    print(
      `neighbor ${neighbors[index]!.name}: p50 ${p50}, p90 ${p90}, p99 ${p99} of ${took.length} pages; ` +
        `${median(refused).toFixed(0)} a second of the neighbor's refused; ` +
        `the service uses ${percent(median(cpu))} of a core.`,
    );
  }
}

async function measure(flags: Flags): Promise<boolean> {
  const slices = await measureSlices(flags);
  report(slices);
  const [alone, , beside] = slices;
  const [one, other] = [0, 1].map((odd) => p99Of(alone!.filter((_, index) => index % 2 === odd)));
  const noise = Math.max(one!, other!) / Math.min(one!, other!) - 1;
  const moved = p99Of(beside!) / p99Of(alone!) - 1;
  const text = `${flags.engine}: p99 moves by ${percent(moved)} (goal: less than ${percent(goal)})`;
  const isTold = noise < goal;
  const verdict = moved < goal ? (isTold ? 'ok     ' : 'not told') : 'not met';
  print(`${verdict} ${text}; beside none, it differs by ${percent(noise)} from turn to turn`);
  return isTold && moved < goal;
}

await runProgram({
  help,
  options: { engine: 'value', seconds: 'value' },
  readFlags: (given): Flags => ({
    engine: given.oneOf('engine', engines, 'sqlite'),
    seconds: given.wholeNumber('seconds', 10, 9_999, 120),
  }),
  lackFor: ({ engine }) => lackFor(engine) || (engine === 'postgres' && needsOwnRedis.skip),
  run: measure,
});

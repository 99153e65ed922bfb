/** Measures whether a partner that far exceeds its rate makes another partner wait. */
import { listBrands } from '@partner-network/contract/operations';
import { oneOf, wholeNumber } from '../../packages/server/src/command-line/options.ts';
import { needsOwnRedis, startRedis } from '../../packages/testkit/servers/redis.ts';
import { fillDatabase, newPartners } from '../lib/data.ts';
import { type Played, rateOf, startGenerator, timesOf } from '../lib/load.ts';
import { print, runProgram, say, wholeRun, withDefault } from '../lib/program.ts';
import { type Engine, engines, missingFor, newDatabase, startService } from '../lib/service.ts';
import { median, ms, percent, quantile } from '../lib/statistics.ts';

const rate = 50;
const times = 20;
/** How much p99 may rise because of the neighbor. */
const goal = 0.1;
const sliceSeconds = 2;
/** The measured partner stays within its rate. */
const ownRate = 40;

const about = `
Starts "partner-network serve" in its own process, with the rate limit of ${rate} a second. One partner
requests ${ownRate} pages of brands a second at random times. In slices of ${sliceSeconds} s, its neighbor
sends nothing, ${rate} requests a second, or ${times} times as many, most of which are refused. Prints the
times of the first partner's pages. Ends with status 1 if p99 rises by more than ${percent(goal)} with a
neighbor at ${times} times its rate, or if the machine is too busy to measure that: p99 without a neighbor
varies as much.`;

const neighbors = [
  { name: 'none', perSecond: 0 },
  { name: 'at its rate', perSecond: rate },
  { name: `at ${times} times its rate`, perSecond: rate * times },
] as const;

interface Slice {
  readonly own: Played;
  readonly neighbor: Played | undefined;
}

async function measureSlices(engine: Engine, seconds: number): Promise<Slice[][]> {
  const redis = engine === 'postgres' ? await startRedis(wholeRun) : undefined;
  const [database, partners] = [await newDatabase(engine), newPartners(2)];
  await fillDatabase(database, partners, 2 * 120);
  const service = await startService(database, redis === undefined ? [] : ['--redis', redis.url]);
  // A process each: a busy neighbor must not delay the other's time measurement.
  const [ours, theirs] = [startGenerator(), startGenerator()];
  const stream = (index: number, perSecond: number, connections: number) => ({
    requests: [{ path: listBrands.path, key: partners[index]!.key }],
    connections,
    perSecond,
  });
  await ours.play(service, 2, stream(0, ownRate, 8));
  const slices: Slice[][] = neighbors.map(() => []);
  const rounds = Math.max(1, Math.round(seconds / neighbors.length / sliceSeconds));
  for (let round = 1; round <= rounds; round += 1) {
    for (const [index, { perSecond }] of neighbors.entries()) {
      const played =
        perSecond === 0 ? undefined : theirs.play(service, sliceSeconds, stream(1, perSecond, 64));
      const [own] = await ours.play(service, sliceSeconds, stream(0, ownRate, 8));
      slices[index]!.push({ own: own!, neighbor: (await played)?.[0] });
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
        `${median(refused).toFixed(0)} of the neighbor's requests refused per second; ` +
        `the service uses ${percent(median(cpu))} of a core.`,
    );
  }
}

async function measure(engine: Engine, seconds: number): Promise<boolean> {
  const slices = await measureSlices(engine, seconds);
  report(slices);
  const [alone, , beside] = slices;
  const [one, other] = [0, 1].map((odd) => p99Of(alone!.filter((_, index) => index % 2 === odd)));
  const noise = Math.max(one!, other!) / Math.min(one!, other!) - 1;
  const moved = p99Of(beside!) / p99Of(alone!) - 1;
  const isQuiet = noise < goal;
  const verdict = moved < goal ? (isQuiet ? 'ok     ' : 'unknown') : 'not met';
  print(
    `${verdict} ${engine}: p99 moves by ${percent(moved)} (goal: less than ${percent(goal)}); ` +
      `without a neighbor, it differs by ${percent(noise)} from slice to slice`,
  );
  return isQuiet && moved < goal;
}

await runProgram({
  usage: 'npm run bench:neighbors --',
  about,
  options: {
    engine: withDefault(
      'NAME',
      oneOf(engines),
      'sqlite',
      'sqlite, or postgres (starts a server and a Redis)',
    ),
    seconds: withDefault('N', wholeNumber(10, 9_999), 120, 'in all'),
  },
  missing: (flags) => missingFor(flags) || (flags.engine === 'postgres' && needsOwnRedis.skip),
  run: ({ engine, seconds }) => measure(engine, seconds),
});

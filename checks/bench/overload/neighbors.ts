/** Measures whether a partner that far exceeds its rate, or sends the worst requests, makes others wait. */
import { listBrands } from '@partner-network/contract/operations';
import { oneOf, wholeNumber } from '../../../packages/common/src/command-line/options.ts';
import { needsOwnRedis, startRedis } from '../../../packages/testkit/servers/redis.ts';
import { print, runProgram, say, wholeRun, withDefault } from '../../lib/program.ts';
import { fillDatabase, newPartners, type Partner } from '../lib/data.ts';
import { type Played, rateOf, startGenerator, timesOf } from '../lib/load.ts';
import { type Engine, engines, missingFor, newDatabase, startService } from '../lib/service.ts';
import { median, ms, percent, quantile } from '../lib/statistics.ts';
import { measureWorst, worstPath } from './worst.ts';

const rate = 50;
const times = 20;
/** How much p99 may rise because of a neighbor: with pages, and with the worst requests. */
const [goal, worstGoal] = [0.1, 0.25];
const sliceSeconds = 2;
/** The measured partner stays within its rate. */
const ownRate = 40;

const about = `
Starts "partner-network serve" in its own process, with the rate limit of ${rate} a second. One partner
requests ${ownRate} pages of brands a second at random times. In slices of ${sliceSeconds} s, its neighbor
sends nothing, ${rate} requests a second, or ${times} times as many, most of which are refused; or as many
of the most expensive requests of 16 KiB that we found. Prints the times of the first partner's pages, and
the CPU time of such requests. Ends with status 1 if p99 rises by more than ${percent(goal)} with a neighbor
at ${times} times its rate, or ${percent(worstGoal)} with the worst requests; if a request costs more than
three pages; or if the machine is too busy to measure that: p99 without a neighbor varies as much.`;

const neighbors = [
  { name: 'none', perSecond: 0, path: listBrands.path },
  { name: 'at its rate', perSecond: rate, path: listBrands.path },
  { name: `at ${times} times its rate`, perSecond: rate * times, path: listBrands.path, goal },
  { name: 'with the worst requests, at its rate', perSecond: rate, path: worstPath, goal: worstGoal },
  { name: `with ${times} times as many`, perSecond: rate * times, path: worstPath, goal: worstGoal },
];

interface Slice {
  readonly own: Played;
  readonly neighbor: Played | undefined;
}

async function measureSlices(
  engine: Engine,
  database: string,
  partners: readonly Partner[],
  seconds: number,
): Promise<Slice[][]> {
  const redis = engine === 'postgres' ? await startRedis(wholeRun) : undefined;
  const service = await startService(database, redis === undefined ? [] : ['--redis', redis.url]);
  // A process each: a busy neighbor must not delay the other's time measurement.
  const [ours, theirs] = [startGenerator(), startGenerator()];
  const stream = (index: number, perSecond: number, connections: number, path: string = listBrands.path) => ({
    requests: [{ path, key: partners[index]!.key }],
    connections,
    perSecond,
  });
  await ours.play(service, 2, stream(0, ownRate, 8));
  const slices: Slice[][] = neighbors.map(() => []);
  const rounds = Math.max(1, Math.round(seconds / neighbors.length / sliceSeconds));
  for (let round = 1; round <= rounds; round += 1) {
    for (const [index, { perSecond, path }] of neighbors.entries()) {
      const played =
        perSecond === 0 ? undefined : theirs.play(service, sliceSeconds, stream(1, perSecond, 64, path));
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
  const [database, partners] = [await newDatabase(engine), newPartners(2)];
  await fillDatabase(database, partners, 2 * 120);
  const isCheap = await measureWorst(database, partners[0]!);
  const slices = await measureSlices(engine, database, partners, seconds);
  report(slices);
  const alone = slices[0];
  const [one, other] = [0, 1].map((odd) => p99Of(alone!.filter((_, index) => index % 2 === odd)));
  const noise = Math.max(one!, other!) / Math.min(one!, other!) - 1;
  const isQuiet = noise < goal;
  let isMet = isQuiet && isCheap;
  for (const [index, neighbor] of neighbors.entries()) {
    if (neighbor.goal === undefined) continue;
    const moved = p99Of(slices[index]!) / p99Of(alone!) - 1;
    const verdict = moved < neighbor.goal ? (isQuiet ? 'ok     ' : 'unknown') : 'not met';
    isMet &&= moved < neighbor.goal;
    print(
      `${verdict} ${engine}, neighbor ${neighbor.name}: p99 moves by ${percent(moved)} ` +
        `(goal: less than ${percent(neighbor.goal)}); ` +
        `without a neighbor, it differs by ${percent(noise)} from slice to slice`,
    );
  }
  return isMet;
}

await runProgram({
  usage: 'npm run bench -- neighbors',
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

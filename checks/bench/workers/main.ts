/** Measures how much more several workers can serve than one, without the CPU time of load and database. */
import { listBrands } from '@partner-network/contract/operations';
import { wholeNumber } from '../../../packages/common/src/command-line/options.ts';
import { print, runProgram, say, withDefault } from '../../lib/program.ts';
import { cpuSecondsOfEach } from '../lib/cpu.ts';
import { fillDatabase, newPartners } from '../lib/data.ts';
import { type Generator, startGenerator, timesOf } from '../lib/load.ts';
import { missingFor, newDatabase, startService } from '../lib/service.ts';
import { median } from '../lib/statistics.ts';

/** The least share of the ideal: the throughput of one worker times the number of workers. */
const leastShare = 0.85;
/** Enough to saturate a worker. */
const connectionsPerWorker = 16;
const warmUpTimes = 3;
/** A service without CPU for a tenth of a second sheds requests: this load is repeated. */
const leastGood = 0.99;
const attempts = 10;

const about = `
Starts "partner-network serve" on Postgres twice: with one worker, and with several that share the rate
limit. Loads both in turn with pages of 50 brands, and reads the CPU time of each of their processes.

The load and the database use the same cores, so requests a second would say little about the service. CPU
time says what it could do on cores of its own. With N cores, it serves N seconds of CPU time a second; the
busiest process serves one second of its own. The lower of both bounds is the throughput. Ends with status 1
if it is less than ${leastShare} times N times that of one worker.

Each worker gets --rate requests a second, so that the cores have time to spare. On full cores, every
process that is added makes a page cost more, whatever the workers do: "--rate 0" shows that.`;

interface Cost {
  /** CPU microseconds for a page: of all processes together, and of the busiest. */
  readonly all: number;
  readonly busiest: number;
  readonly pagesPerSecond: number;
}

type Service = Awaited<ReturnType<typeof startService>>;
type Requests = readonly { readonly path: string; readonly key: string }[];

async function measureCost(
  service: Service,
  workers: number,
  seconds: number,
  generator: Generator,
  stream: { readonly requests: Requests; readonly perSecond?: number },
): Promise<Cost> {
  const connections = workers * connectionsPerWorker;
  for (let attempt = 1; attempt <= attempts; attempt += 1) {
    const before = cpuSecondsOfEach(service.pid);
    const [played] = await generator.play(service, seconds, { ...stream, connections });
    const used = [...cpuSecondsOfEach(service.pid)].map(([pid, after]) => after - (before.get(pid) ?? 0));
    const pages = timesOf(played!, '200').length;
    if (pages < leastGood * (played!.sent + played!.unsent)) continue;
    const microseconds = used.map((cpuSeconds) => (cpuSeconds * 1_000_000) / pages);
    return {
      all: microseconds.reduce((sum, one) => sum + one, 0),
      busiest: Math.max(...microseconds),
      pagesPerSecond: pages / played!.seconds,
    };
  }
  throw new Error('Too many requests were shed or not sent. Run this on a machine that does nothing else.');
}

/** Pages a second on this number of cores, if nothing else uses them. */
const throughputOn = (cores: number, { all, busiest }: Cost) =>
  Math.min(cores / all, 1 / busiest) * 1_000_000;

interface Flags {
  readonly workers: number;
  readonly rounds: number;
  readonly seconds: number;
  readonly rate: number;
}

async function measure({ workers: most, rounds, seconds, rate }: Flags): Promise<boolean> {
  const partners = newPartners(8);
  const database = await newDatabase('postgres');
  await fillDatabase(database, partners, 8 * 120);
  const requests = partners.map(({ key }) => ({ path: listBrands.path, key }));
  const generator = startGenerator();
  const sides = [1, most].map((workers) => ({
    workers,
    stream: { requests, ...(rate > 0 && { perSecond: rate * workers }) },
    service: undefined as Service | undefined,
    costs: [] as Cost[],
  }));
  for (const side of sides) {
    // The highest rate: every request is counted, and none is refused.
    const flags = ['--workers', String(side.workers), '--brands-rate', '10000'];
    side.service = await startService(database, flags);
    await measureCost(side.service, side.workers, warmUpTimes * seconds, generator, side.stream);
  }
  for (let round = 1; round <= rounds; round += 1) {
    for (const { workers, stream, service, costs } of sides) {
      costs.push(await measureCost(service!, workers, seconds, generator, stream));
    }
    say(`  ${round} of ${rounds} rounds`);
  }
  for (const { workers, costs } of sides) {
    const middle = (of: (cost: Cost) => number) => median(costs.map(of)).toFixed(0);
    print(
      `${workers} ${workers === 1 ? 'worker' : 'workers'}: ${middle(({ all }) => all)} µs for a page, ` +
        `${middle(({ busiest }) => busiest)} µs in the busiest process; ` +
        `${middle((cost) => throughputOn(workers, cost))} pages a second on ${workers} cores of its own ` +
        `(${middle(({ pagesPerSecond }) => pagesPerSecond)} here, with load and database).`,
    );
  }
  const [ofOne, ofMany] = sides.map(({ costs }) => costs) as [Cost[], Cost[]];
  const times = median(ofOne.map((one, round) => throughputOn(most, ofMany[round]!) / throughputOn(1, one)));
  const goal = leastShare * most;
  const isMet = times >= goal;
  print(`${isMet ? 'ok     ' : 'not met'} ${times.toFixed(2)} times one worker (goal: ${goal.toFixed(2)})`);
  return isMet;
}

await runProgram({
  usage: 'npm run bench -- workers',
  about,
  options: {
    workers: withDefault('N', wholeNumber(2, 64), 2, 'workers to compare with one'),
    rounds: withDefault('N', wholeNumber(1, 100), 7, 'rounds after the warm-up'),
    seconds: withDefault('N', wholeNumber(1, 60), 5, 'length of each load'),
    rate: withDefault(
      'N',
      wholeNumber(0, 99_999),
      600,
      'requests a second for each worker; 0 saturates them',
    ),
  },
  missing: () => missingFor({ engine: 'postgres' }),
  run: measure,
});

/** Whether a process that is asked for ten times what it can do goes on doing what it can. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createShedResponses } from '../../packages/server/src/http/overload/shed-responses.ts';
import { print, runProgram, say, wholeRun } from '../lib/program.ts';
import { median, ms, percent, quantile } from '../lib/statistics.ts';
import { type Generator, type Played, rateOf, startGenerator, timesOf } from './load.ts';
import {
  brandsPath,
  type Engine,
  engines,
  type LoadedService,
  lackFor,
  pin,
  startLoadedService,
} from './load-service.ts';

const times = 10;
const goals = { goodput: 0.9, admittedMs: 250, shedWorkMs: 5, recoveryMs: 2_000 };
const tries = [4, 8, 16, 32, 64] as const;
const manyConnections = 1_000;
const many = manyConnections.toLocaleString('en');
const rounds = 3;
const probesPerSecond = 50;

const help = `Usage: node bench/overload/main.ts [FLAGS]

Starts "partner-network serve" in a process of its own, without a rate limit, and asks it for pages of
50 brands from another one. Finds how many connections saturate it, and its peak of good answers a second.
Then plays, in turns with that load: ${times} times as many connections; ${many} that ask again as
soon as they are answered; and ${times} times the rate of the peak over as many. Prints good answers as
a share of the peak beside them, and times. Ends with status 1 when a goal is not met.

  --engine NAME   sqlite or postgres (a server of its own), sqlite unless given
  --seconds N     of each load, 4 unless given
  --help          this text`;

interface Flags {
  readonly engine: Engine;
  readonly seconds: number;
}

interface Load {
  readonly name: string;
  readonly connections: number;
  readonly perSecond?: number;
}

interface Share {
  readonly load: Load;
  readonly goodput: number;
  /** The same, of the time that the process was given: others may want the machine, too. */
  readonly ofCpu: number;
  readonly played: Played;
}

/** Plays loads in turns with the one that saturates, so that what else the machine does hits both alike. */
async function measureShares(
  play: (load: Load) => Promise<Played>,
  saturating: Load,
  loads: readonly Load[],
) {
  const shares: Share[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    for (const load of loads) {
      const before = await play(saturating);
      const played = await play(load);
      const after = await play(saturating);
      const beside = (figure: (played: Played) => number) =>
        figure(played) / ((figure(before) + figure(after)) / 2);
      const goodput = beside((one) => rateOf(one, '200'));
      const ofCpu = beside((one) => timesOf(one, '200').length / one.cpuSeconds);
      shares.push({ load, goodput, ofCpu, played });
      say(`  round ${round} of ${rounds}, ${load.name}: ${percent(goodput)} of the peak`);
    }
  }
  return shares;
}

async function findPeak(play: (load: Load) => Promise<Played>): Promise<Load & { readonly peak: number }> {
  const tried: { connections: number; rate: number }[] = [];
  // What is not compiled yet does not count.
  await play({ name: 'warm up', connections: 16 });
  for (const connections of tries) {
    tried.push({ connections, rate: rateOf(await play({ name: '', connections }), '200') });
    say(`  ${connections} connections: ${tried.at(-1)!.rate.toFixed(0)} a second`);
  }
  const peak = Math.max(...tried.map(({ rate }) => rate));
  const { connections } = tried.find(({ rate }) => rate >= 0.95 * peak)!;
  return { name: 'peak', connections, peak };
}

/** How long after the load's end a caller is answered as before it. */
async function measureRecovery(
  generator: Generator,
  keys: readonly string[],
  play: (load: Load) => Promise<Played>,
): Promise<number> {
  const probe = { path: brandsPath, keys, connections: 4, perSecond: probesPerSecond };
  const [calm] = await generator.play(2, probe);
  const normalMs = 2 * quantile(timesOf(calm!, '200'), 0.99);
  await play({ name: 'before', connections: manyConnections });
  const startedMs = performance.now();
  const [after] = await generator.play(3, probe);
  const waitedMs = performance.now() - startedMs - after!.seconds * 1_000;
  const answers = Object.entries(after!.answers)
    .flatMap(([status, taken]) => taken.map((one) => ({ ...one, status })))
    .toSorted((one, other) => one.atMs - other.atMs);
  const first = answers[0]!.atMs - answers[0]!.tookMs;
  const isNormal = ({ status, tookMs }: (typeof answers)[number]) => status === '200' && tookMs <= normalMs;
  const since = answers.findIndex((_, index) => answers.slice(index, index + 10).every(isNormal));
  return since === -1 ? Number.POSITIVE_INFINITY : Math.max(0, waitedMs) + answers[since]!.atMs - first;
}

/** CPU of a 503, in a server that sends nothing else, and at a pace that nothing holds up. */
async function measureShedWork(): Promise<number> {
  const sendShed = createShedResponses(() => performance.now() * 1_000);
  const server = createServer((_request, response) => sendShed(response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  wholeRun.after(() => {
    server.close();
  });
  const generator = startGenerator({ ...(server.address() as AddressInfo), pid: process.pid });
  const stream = { path: brandsPath, keys: ['none'], connections: 16 };
  await generator.play(1, stream);
  const before = process.cpuUsage();
  const [played] = await generator.play(2, stream);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000 / played!.sent;
}

function verdict(what: string, isMet: boolean): boolean {
  print(`${isMet ? 'ok     ' : 'not met'} ${what}`);
  return isMet;
}

function reportLoad(load: Load, ofLoad: readonly Share[]): boolean[] {
  const all = (status: string) => ofLoad.flatMap(({ played }) => timesOf(played, status));
  const share = median(ofLoad.map(({ goodput }) => goodput));
  const admittedMs = quantile(all('200'), 0.99);
  const offered = median(ofLoad.map(({ played }) => played.sent / played.seconds));
  const unsent = median(ofLoad.map(({ played }) => played.unsent / played.seconds));
  const shed = median(ofLoad.map(({ played }) => rateOf(played, '503')));
  const taken = shed === 0 ? '' : ` (p50 ${ms(median(all('503')))}, p99 ${ms(quantile(all('503'), 0.99))})`;
  print(
    `${load.name}: ${offered.toFixed(0)} a second sent, ${shed.toFixed(0)} of them answered 503${taken}` +
      `${load.perSecond === undefined ? '' : `, ${unsent.toFixed(0)} more found all connections busy`}.`,
  );
  print(`Of the CPU time it got, it made ${percent(median(ofLoad.map((one) => one.ofCpu)))} of the peak.`);
  return [
    verdict(
      `${percent(share)} of the peak are good (goal: ${percent(goals.goodput)})`,
      share >= goals.goodput,
    ),
    verdict(
      `p99 of the good ones is ${ms(admittedMs)} (goal: under ${goals.admittedMs} ms)`,
      admittedMs < goals.admittedMs,
    ),
  ];
}

async function measure({ engine, seconds }: Flags): Promise<boolean> {
  const service: LoadedService = await startLoadedService(engine, ['--brands-rate', '0']);
  const generator = startGenerator(service);
  // Postgres would share a core with one of them.
  const isPinned = engine === 'sqlite' && pin(service.pid, generator.pid);
  say(`${isPinned ? 'The service and the load have a core each.' : 'All processes share the cores.'}`);
  const play = async ({ connections, perSecond }: Load): Promise<Played> => {
    const rate = perSecond === undefined ? {} : { perSecond };
    const [played] = await generator.play(seconds, {
      path: brandsPath,
      keys: service.keys,
      connections,
      ...rate,
    });
    return played!;
  };
  const { peak, ...saturating } = await findPeak(play);
  const loads: Load[] = [
    { name: `${times} times the connections`, connections: times * saturating.connections },
    { name: `${manyConnections} connections`, connections: manyConnections },
    { name: `${times} times the rate`, connections: manyConnections, perSecond: times * peak },
  ];
  const shares = await measureShares(play, saturating, loads);
  const recoveryMs = await measureRecovery(generator, service.keys, play);
  const shedWorkMs = await measureShedWork();
  print(
    `${engine}: ${saturating.connections} connections saturate a process, peak ${peak.toFixed(0)} a second.`,
  );
  const isMet = loads.flatMap((load) =>
    reportLoad(
      load,
      shares.filter((share) => share.load === load),
    ),
  );
  isMet.push(
    verdict(
      `a 503 takes ${(shedWorkMs * 1_000).toFixed(0)} µs of work (goal: under ${goals.shedWorkMs} ms)`,
      shedWorkMs < goals.shedWorkMs,
    ),
    verdict(
      `back to normal ${ms(recoveryMs)} after the load (goal: ${goals.recoveryMs} ms)`,
      recoveryMs <= goals.recoveryMs,
    ),
  );
  return !isMet.includes(false);
}

await runProgram({
  help,
  options: { engine: 'value', seconds: 'value' },
  readFlags: (given): Flags => ({
    engine: given.oneOf('engine', engines, 'sqlite'),
    seconds: given.wholeNumber('seconds', 1, 999, 4),
  }),
  lackFor: ({ engine }) => lackFor(engine),
  run: measure,
});

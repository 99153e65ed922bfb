/** Measures whether a process that gets ten times its capacity still serves what it can. */
import { createServer } from 'node:http';
import { join } from 'node:path';
import { listBrands } from '@partner-network/contract/operations';
import { oneOf, wholeNumber } from '../../../packages/common/src/command-line/options.ts';
import { createShedResponses } from '../../../packages/http/src/overload.ts';
import { temporaryFolder } from '../../../packages/testkit/fixtures/folder.ts';
import { listenOnAnyPort } from '../../../packages/testkit/servers/free-port.ts';
import { startPostgres, withoutOwnServers } from '../../../packages/testkit/servers/postgres-start.ts';
import { print, runProgram, say, wholeRun, withDefault } from '../../lib/program.ts';
import { megabytesOf } from '../lib/cpu.ts';
import { fillDatabase, newPartners } from '../lib/data.ts';
import { type Generator, type Played, pin, rateOf, startGenerator, timesOf } from '../lib/load.ts';
import { type Engine, engines, startService } from '../lib/service.ts';
import { median, ms, percent, quantile } from '../lib/statistics.ts';

const times = 10;
const goals = { goodput: 0.9, admittedMs: 250, shedWorkMs: 5, recoveryMs: 2_000 };
const connectionCounts = [4, 8, 16, 32, 64] as const;
const manyConnections = 1_000;
const rounds = 3;
/** A host that gives more of the machine's CPU time to others than this stalls every process on it. */
const mostStolen = 0.05;
/** Stalled rounds that are repeated in a run; further ones count. */
const mostRepeats = 10;
const probesPerSecond = 50;
/** Recovered: this many answers in a row are as fast as before the load. */
const normalAnswers = 10;
const path = listBrands.path;

const about = `
Starts "partner-network serve" in its own process, without a rate limit, and requests pages of 50 brands
from another process. Finds how many connections saturate it, and its peak of good answers a second. Then
plays, each between two rounds of the saturating load: ${times} times its connections; 1,000 connections
that send their next request at once; and ${times} times the peak rate over 1,000 connections. Prints good
answers as a share of the peak, and times. Ends with status 1 if a goal is not met in each of ${rounds}
rounds.

On a virtual machine, a stall of the host looks like a slow service. The kernel counts it as stolen time.
A round with more than ${percent(mostStolen)} of it is repeated, at most ${mostRepeats} times in a run. After
that it counts, and the output says so.`;

interface Load {
  readonly name: string;
  readonly connections: number;
  readonly perSecond?: number;
}

type Play = (load: Load) => Promise<Played>;

interface Share {
  readonly load: Load;
  /** Good answers a second, as a share of the peak. */
  readonly goodput: number;
  /** The same per CPU second of the process: other programs may use the machine, too. */
  readonly ofCpu: number;
  readonly played: Played;
  /** Whether the host stalled the machine. */
  readonly isStalled: boolean;
}

/** Finds the fewest connections that reach 95 % of the highest rate. */
async function findPeak(play: Play): Promise<Load & { readonly peak: number }> {
  const tried: { connections: number; rate: number }[] = [];
  await play({ name: 'warm up', connections: 16 });
  for (const connections of connectionCounts) {
    const rate = rateOf(await play({ name: '', connections }), '200');
    tried.push({ connections, rate });
    say(`  ${connections} connections: ${rate.toFixed(0)} a second`);
  }
  const peak = Math.max(...tried.map(({ rate }) => rate));
  const { connections } = tried.find(({ rate }) => rate >= 0.95 * peak)!;
  return { name: 'peak', connections, peak };
}

/** Plays a load between two rounds of the saturating load, so that a slow machine slows both. */
async function measureShare(play: Play, saturating: Load, load: Load): Promise<Share> {
  const before = await play(saturating);
  const played = await play(load);
  const after = await play(saturating);
  const ofPeak = (figure: (played: Played) => number) =>
    figure(played) / ((figure(before) + figure(after)) / 2);
  return {
    load,
    goodput: ofPeak((one) => rateOf(one, '200')),
    ofCpu: ofPeak((one) => timesOf(one, '200').length / one.cpuSeconds),
    played,
    isStalled: [before, played, after].some(({ stolen }) => stolen > mostStolen),
  };
}

async function measureShares(play: Play, saturating: Load, loads: readonly Load[]): Promise<Share[]> {
  const shares: Share[] = [];
  let repeats = 0;
  for (let round = 1; round <= rounds; round += 1) {
    for (const load of loads) {
      let share = await measureShare(play, saturating, load);
      while (share.isStalled && repeats < mostRepeats) {
        repeats += 1;
        share = await measureShare(play, saturating, load);
      }
      shares.push(share);
      say(`  round ${round} of ${rounds}, ${load.name}: ${percent(share.goodput)} of the peak`);
    }
  }
  return shares;
}

/** Milliseconds from the end of a load until answers are good and as fast as before it. */
async function measureRecovery(play: Play, probe: (seconds: number) => Promise<Played>): Promise<number> {
  const normalMs = 2 * quantile(timesOf(await probe(2), '200'), 0.99);
  await play({ name: 'before', connections: manyConnections });
  const startedMs = performance.now();
  const after = await probe(3);
  const waitedMs = performance.now() - startedMs - after.seconds * 1_000;
  const answers = Object.entries(after.answers)
    .flatMap(([status, taken]) => taken.map((one) => ({ ...one, status })))
    .toSorted((one, other) => one.atMs - other.atMs);
  const firstSentMs = answers[0]!.atMs - answers[0]!.tookMs;
  const isNormal = ({ status, tookMs }: (typeof answers)[number]) => status === '200' && tookMs <= normalMs;
  const since = answers.findIndex((_, index) => answers.slice(index, index + normalAnswers).every(isNormal));
  if (since === -1) return Number.POSITIVE_INFINITY;
  return Math.max(0, waitedMs) + answers[since]!.atMs - firstSentMs;
}

/** CPU milliseconds of a 503, in a server that sends nothing else. */
async function measureShedWork(generator: Generator): Promise<number> {
  const sendShed = createShedResponses(() => performance.now() * 1_000);
  const server = createServer((_request, response) => sendShed(response));
  const listener = { port: await listenOnAnyPort(wholeRun, server), pid: process.pid };
  const stream = { requests: [{ path }], connections: 16 };
  await generator.play(listener, 1, stream);
  const before = process.cpuUsage();
  const [played] = await generator.play(listener, 2, stream);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000 / played!.sent;
}

function verdict(what: string, isMet: boolean): boolean {
  print(`${isMet ? 'ok     ' : 'not met'} ${what}`);
  return isMet;
}

function reportLoad(load: Load, shares: readonly Share[]): boolean[] {
  const all = (status: string) => shares.flatMap(({ played }) => timesOf(played, status));
  const middle = (figure: (share: Share) => number) => median(shares.map(figure));
  const share = Math.min(...shares.map(({ goodput }) => goodput));
  const admittedMs = Math.max(...shares.map(({ played }) => quantile(timesOf(played, '200'), 0.99)));
  const offered = middle(({ played }) => played.sent / played.seconds);
  const unsent = middle(({ played }) => played.unsent / played.seconds);
  const shed = middle(({ played }) => rateOf(played, '503'));
  const taken = shed === 0 ? '' : ` (p50 ${ms(median(all('503')))}, p99 ${ms(quantile(all('503'), 0.99))})`;
  print(
    `${load.name}: ${offered.toFixed(0)} a second sent, ${shed.toFixed(0)} of them answered 503${taken}` +
      `${load.perSecond === undefined ? '' : `, ${unsent.toFixed(0)} more found all connections busy`}.`,
  );
  print(`Per CPU second of the service: ${percent(middle(({ ofCpu }) => ofCpu))} of the peak.`);
  const stalled = shares.filter(({ isStalled }) => isStalled).length;
  if (stalled > 0) print(`The host stalled the machine in ${stalled} of ${rounds} rounds: they say little.`);
  return [
    verdict(
      `at least ${percent(share)} of the peak are good in each round (goal: ${percent(goals.goodput)})`,
      share >= goals.goodput,
    ),
    verdict(
      `p99 of the good ones is at most ${ms(admittedMs)} (goal: ${goals.admittedMs} ms)`,
      admittedMs <= goals.admittedMs,
    ),
  ];
}

async function measure(engine: Engine, seconds: number): Promise<boolean> {
  const partners = newPartners(8);
  const server = engine === 'postgres' ? await startPostgres(wholeRun) : undefined;
  const database = server?.url() ?? `sqlite:${join(temporaryFolder(wholeRun), 'bench.db')}`;
  await fillDatabase(database, partners, 8 * 120);
  const service = await startService(database, ['--brands-rate', '0']);
  const generator = startGenerator();
  // With Postgres there are three busy processes, of which two would share a core.
  const isPinned = engine === 'sqlite' && pin(service.pid, generator.pid);
  say(isPinned ? 'The service and the load have a core each.' : 'All processes share the cores.');
  const requests = partners.map(({ key }) => ({ path, key }));
  const playFor = async (forSeconds: number, { name: _name, ...load }: Load) =>
    (await generator.play(service, forSeconds, { requests, ...load }))[0]!;
  const play: Play = (load) => playFor(seconds, load);
  const probe = { name: 'probe', connections: 4, perSecond: probesPerSecond };

  const { peak, ...saturating } = await findPeak(play);
  const loads: Load[] = [
    { name: `${times} times the connections`, connections: times * saturating.connections },
    { name: `${manyConnections} connections`, connections: manyConnections },
    { name: `${times} times the rate`, connections: manyConnections, perSecond: times * peak },
  ];
  const shares = await measureShares(play, saturating, loads);
  const recoveryMs = await measureRecovery(play, (forSeconds) => playFor(forSeconds, probe));
  const shedWorkMs = await measureShedWork(generator);
  print(
    `${engine}: ${saturating.connections} connections saturate a process, peak ${peak.toFixed(0)} a second.`,
  );
  const areMet = loads.flatMap((load) =>
    reportLoad(
      load,
      shares.filter((share) => share.load === load),
    ),
  );
  print(`Memory of the service: at most ${megabytesOf(service.pid).most.toFixed(0)} MB.`);
  areMet.push(
    verdict(
      `a 503 takes ${(shedWorkMs * 1_000).toFixed(0)} µs of work (goal: under ${goals.shedWorkMs} ms)`,
      shedWorkMs < goals.shedWorkMs,
    ),
    verdict(
      `back to normal ${ms(recoveryMs)} after the load (goal: ${goals.recoveryMs} ms)`,
      recoveryMs <= goals.recoveryMs,
    ),
  );
  return !areMet.includes(false);
}

await runProgram({
  usage: 'npm run bench -- overload',
  about,
  options: {
    engine: withDefault('NAME', oneOf(engines), 'sqlite', 'sqlite, or postgres (starts its own server)'),
    seconds: withDefault('N', wholeNumber(1, 999), 4, 'length of each load'),
  },
  missing: ({ engine }) => engine === 'postgres' && withoutOwnServers(),
  run: ({ engine, seconds }) => measure(engine, seconds),
});

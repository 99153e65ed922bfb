/** Measures whether a process that gets ten times its capacity still serves what it can. */
import { createServer } from 'node:http';
import { listBrands } from '@partner-network/contract/operations';
import { oneOf, wholeNumber } from '../../../packages/common/src/command-line/options.ts';
import { createShedResponses } from '../../../packages/http/src/overload.ts';
import { listenOnAnyPort } from '../../../packages/testkit/servers/free-port.ts';
import { withoutOwnServers } from '../../../packages/testkit/servers/postgres-start.ts';
import { runProgram, say, wholeRun, withDefault } from '../../lib/program.ts';
import { megabytesOf, withoutProc } from '../lib/cpu.ts';
import { fillDatabase, newPartners } from '../lib/data.ts';
import { type Generator, type Played, pin, rateOf, startGenerator, timesOf } from '../lib/load.ts';
import { type Measurement, quantile, report } from '../lib/report.ts';
import { type Engine, engines, newDatabase, startService } from '../lib/service.ts';

const times = 10;
const goals = { goodput: 0.9, admittedMs: 250, shedWorkMs: 5, recoveryMs: 2_000 };
const connectionCounts = [4, 8, 16, 32, 64] as const;
const manyConnections = 1_000;
const rounds = 3;
const probesPerSecond = 50;
/** Recovered: this many answers in a row are as fast as before the load. */
const normalAnswers = 10;
const path = listBrands.path;

const about = `
Starts "partner-network serve" in its own process, without a rate limit, and requests pages of 50 brands
from another process. Finds how many connections saturate it, and its peak of good answers a second. Then
plays, each between two rounds of the saturating load: ${times} times its connections; 1,000 connections
that send their next request at once; and ${times} times the peak rate over 1,000 connections. Prints good
answers as a share of the peak, and times, each the median of ${rounds} rounds. Ends with status 1 if a goal
is not met.`;

interface Load {
  readonly name: string;
  readonly connections: number;
  readonly perSecond?: number;
}

type Play = (load: Load, forSeconds?: number) => Promise<Played>;

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
async function measureLoad(play: Play, saturating: Load, load: Load): Promise<Measurement[]> {
  const goodput: number[] = [];
  const ofCpu: number[] = [];
  const all: Played[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    const before = await play(saturating);
    const played = await play(load);
    const after = await play(saturating);
    const ofPeak = (figure: (played: Played) => number) =>
      figure(played) / ((figure(before) + figure(after)) / 2);
    goodput.push(ofPeak((one) => rateOf(one, '200')));
    ofCpu.push(ofPeak((one) => timesOf(one, '200').length / one.cpuSeconds));
    all.push(played);
  }
  const of = (what: string, figure: (played: Played) => number, unit: string) => ({
    name: `${load.name}: ${what}`,
    figures: all.map(figure),
    unit,
  });
  const shares = { unit: 'of the peak' };
  const good = of('p99 of good answers', (played) => quantile(timesOf(played, '200'), 0.99), 'ms');
  return [
    of('sent', ({ sent, seconds }) => sent / seconds, 'a second'),
    of('found all connections busy', ({ unsent, seconds }) => unsent / seconds, 'a second'),
    of('answered 503', (played) => rateOf(played, '503'), 'a second'),
    of('p99 of 503', (played) => quantile(timesOf(played, '503'), 0.99), 'ms'),
    { ...shares, name: `${load.name}: good answers`, figures: goodput, atLeast: goals.goodput },
    { ...shares, name: `${load.name}: the same for a CPU second`, figures: ofCpu },
    { ...good, atMost: goals.admittedMs },
  ];
}

/** Milliseconds from the end of a load until answers are good and as fast as before it. */
async function measureRecovery(play: Play): Promise<number> {
  const probe: Load = { name: 'probe', connections: 4, perSecond: probesPerSecond };
  const normalMs = 2 * quantile(timesOf(await play(probe, 2), '200'), 0.99);
  await play({ name: 'before', connections: manyConnections });
  const startedMs = performance.now();
  const after = await play(probe, 3);
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
  const { sent } = await generator.play(listener, 2, stream);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000 / sent;
}

async function measure(engine: Engine, seconds: number): Promise<boolean> {
  const partners = newPartners(8);
  const { url } = await newDatabase(engine);
  await fillDatabase(url, partners, 8 * 120);
  const service = await startService(url, ['--brands-rate', '0']);
  const generator = startGenerator();
  // With Postgres there are three busy processes, of which two would share a core.
  const isPinned = engine === 'sqlite' && pin(service.pid, generator.pid);
  say(isPinned ? 'The service and the load have a core each.' : 'All processes share the cores.');
  const requests = partners.map(({ key }) => ({ path, key }));
  const play: Play = ({ name: _, ...load }, forSeconds = seconds) =>
    generator.play(service, forSeconds, { requests, ...load });

  const { peak, ...saturating } = await findPeak(play);
  const loads: Load[] = [
    { name: `${times} times the connections`, connections: times * saturating.connections },
    { name: `${manyConnections} connections`, connections: manyConnections },
    { name: `${times} times the rate`, connections: manyConnections, perSecond: times * peak },
  ];
  const measured: Measurement[] = [];
  for (const load of loads) measured.push(...(await measureLoad(play, saturating, load)));
  const recoveryMs = await measureRecovery(play);
  const shedMs = await measureShedWork(generator);
  return report([
    { name: 'connections that saturate a process', figures: [saturating.connections], unit: '' },
    { name: 'peak of good answers', figures: [peak], unit: 'a second' },
    ...measured,
    { name: 'memory', figures: [megabytesOf(service.pid).most], unit: 'MB' },
    { name: 'work of a 503', figures: [shedMs], unit: 'ms', atMost: goals.shedWorkMs },
    { name: 'back to normal after the load', figures: [recoveryMs], unit: 'ms', atMost: goals.recoveryMs },
  ]);
}

await runProgram({
  usage: 'npm run bench -- overload',
  about,
  options: {
    engine: withDefault('NAME', oneOf(engines), 'sqlite', 'sqlite, or postgres (starts its own server)'),
    seconds: withDefault('N', wholeNumber(1, 999), 4, 'length of each load'),
  },
  missing: ({ engine }) => withoutProc || (engine === 'postgres' && withoutOwnServers()),
  run: ({ engine, seconds }) => measure(engine, seconds),
});

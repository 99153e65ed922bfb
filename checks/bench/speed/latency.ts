/** How long requests take at 70 % of what a process can answer, over 1,000 connections. */
import type { Partner } from '../lib/data.ts';
import { type Generator, type Listener, rateOf, timesOf } from '../lib/load.ts';
import type { Rounds } from '../lib/quiet.ts';
import { type Measurement, quantile } from '../lib/report.ts';
import { startFloor, startLogging } from './contenders.ts';
import { ask, firstPages } from './requests.ts';

const connections = { saturating: 16, many: 1_000 };
const shareOfCapacity = 0.7;
const mostOfMedian = 4;

/**
 * Each round measures the capacity first: that of the machine changes. It is what one core can answer if
 * requests come one by one. Clients that send their next request at once share turns of the event loop, and
 * get 1.5 times as much. A server that only computes for as long gets the same load: what it takes is the
 * queue of one thread, and the machine.
 */
export async function measureLatency(
  generator: Generator,
  database: string,
  partners: readonly Partner[],
  { seconds, rounds: count }: { readonly seconds: number; readonly rounds: number },
  rounds: Rounds,
): Promise<Measurement[]> {
  const service = await startLogging(database);
  const requests = firstPages(partners);
  const round = async (listener: Listener, length = seconds) => {
    const full = { requests, connections: connections.saturating };
    const mostAnswers = rateOf(await generator.play(listener, length, full), '200');
    const many = { requests, connections: connections.many };
    const half = await generator.play(listener, length, { ...many, perSecond: mostAnswers / 2 });
    const msOfOne = (half.cpuSeconds * 1_000) / timesOf(half, '200').length;
    const perSecond = (shareOfCapacity * 1_000) / msOfOne;
    const times = timesOf(await generator.play(listener, length, { ...many, perSecond }), '200');
    service.emptyLog();
    return { msOfOne, perSecond, p50: quantile(times, 0.5), p99: quantile(times, 0.99) };
  };
  await round(service, 4 * seconds);
  const { msOfOne } = await round(service);
  const computing = await startFloor(await ask(service.port, requests[0]!), msOfOne);
  const all: Record<'ours' | 'computing', Awaited<ReturnType<typeof round>>>[] = [];
  const both = async () => ({ ours: await round(service), computing: await round(computing) });
  while (all.length < count) all.push(await rounds.quiet(both));
  return (['ours', 'computing'] as const).flatMap((who) => {
    const name = (what: string) =>
      `${what} at 70 % of capacity, 1,000 connections${who === 'ours' ? '' : ', a server that only computes'}`;
    const figures = (of: 'perSecond' | 'p50' | 'p99') => all.map((one) => one[who][of]);
    const goal = who === 'ours' ? { atMost: mostOfMedian } : {};
    return [
      { name: name('requests'), figures: figures('perSecond'), unit: 'a second' },
      { name: name('p50'), figures: figures('p50'), unit: 'ms' },
      { name: name('p99'), figures: figures('p99'), unit: 'ms', over: name('p50'), ...goal },
    ];
  });
}

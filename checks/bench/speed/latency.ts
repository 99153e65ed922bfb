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

type Figures = Record<'perSecond' | 'p50' | 'p99', number>;

/**
 * Each round measures the capacity first: that of the machine changes. It is what one core can answer if
 * requests come one by one. Clients that send their next request at once share turns of the event loop, and
 * get 1.5 times as much. A server that computes for the CPU time of one of our requests, and then sends the
 * same bytes, gets 70 % of its own capacity. Its times show what the queue of one thread and the machine
 * take.
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
  const { msOfOne } = await round(service, 4 * seconds);
  const computing = await startFloor(await ask(service.port, requests[0]!), msOfOne);
  await round(computing);
  const own: Figures[] = [];
  const others: Figures[] = [];
  while (own.length < count) {
    const [ours, other] = await rounds.quiet(async () => [await round(service), await round(computing)]);
    own.push(ours!);
    others.push(other!);
  }
  return [
    ...measurementsOf(own, '', mostOfMedian),
    ...measurementsOf(others, ', a server that only computes'),
  ];
}

function measurementsOf(all: readonly Figures[], server: string, atMost?: number): Measurement[] {
  const name = (what: string) => `${what} at 70 % of capacity, 1,000 connections${server}`;
  const figures = (of: keyof Figures) => all.map((one) => one[of]);
  return [
    { name: name('requests'), figures: figures('perSecond'), unit: 'a second' },
    { name: name('p50'), figures: figures('p50'), unit: 'ms' },
    { name: name('p99'), figures: figures('p99'), unit: 'ms', over: name('p50'), atMost },
  ];
}

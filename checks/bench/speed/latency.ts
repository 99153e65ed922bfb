/** How long requests take at 70 % of what a process can answer, over 1,000 connections. */
import type { Partner } from '../lib/data.ts';
import { type Generator, rateOf, timesOf } from '../lib/load.ts';
import type { Rounds } from '../lib/quiet.ts';
import { type Measurement, quantile } from '../lib/report.ts';
import { startLogging } from './contenders.ts';
import { firstPages } from './requests.ts';

const connections = { saturating: 16, many: 1_000 };
const shareOfCapacity = 0.7;
const mostOfMedian = 4;

/**
 * Each round measures the capacity first: that of the machine changes. It is what one core can answer if
 * requests come one by one. Clients that send their next request at once share turns of the event loop, and
 * get 1.5 times as much.
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
  const round = async (length = seconds) => {
    const full = { requests, connections: connections.saturating };
    const mostAnswers = rateOf(await generator.play(service, length, full), '200');
    const many = { requests, connections: connections.many };
    const half = await generator.play(service, length, { ...many, perSecond: mostAnswers / 2 });
    const perSecond = (shareOfCapacity * timesOf(half, '200').length) / half.cpuSeconds;
    const times = timesOf(await generator.play(service, length, { ...many, perSecond }), '200');
    service.emptyLog();
    return { perSecond, p50: quantile(times, 0.5), p99: quantile(times, 0.99) };
  };
  await round(4 * seconds);
  const all: Awaited<ReturnType<typeof round>>[] = [];
  while (all.length < count) all.push(await rounds.quiet(round));
  const name = (what: string) => `${what} at 70 % of capacity, 1,000 connections`;
  const figures = (of: keyof (typeof all)[number]) => all.map((one) => one[of]);
  return [
    { name: name('requests'), figures: figures('perSecond'), unit: 'a second' },
    { name: name('p50'), figures: figures('p50'), unit: 'ms' },
    { name: name('p99'), figures: figures('p99'), unit: 'ms', over: name('p50'), atMost: mostOfMedian },
  ];
}

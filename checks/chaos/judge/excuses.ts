/**
 * Finds what a judge must excuse: when an instance lost Redis or got it back, by its metric of rate limit
 * decisions, and stalls of the machine, in which this process got no CPU, so that all parts waited.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { now } from '../../../packages/testkit/fixtures/lifetime.ts';
import type { Span } from '../../../packages/testkit/fixtures/spans.ts';

/** Decisions of one instance since it started: by Redis, and by itself because Redis was lost. */
interface Decisions {
  readonly redis: number;
  readonly local: number;
}

const readEveryMs = 200;

/** Reads the metric of all instances until it is stopped. */
export function watchRedisSwitches(instances: readonly { metrics(): Promise<string> }[]) {
  const readings = instances.map(() => [] as (Decisions & Span)[]);
  let isStopped = false;
  for (const [index, { metrics }] of instances.entries()) {
    const read = async () => {
      while (!isStopped) {
        const sentMs = now();
        // A frozen or dead instance does not answer. The next reading then covers that time.
        const text = await metrics().catch(() => undefined);
        if (text !== undefined) readings[index]!.push({ sentMs, receivedMs: now(), ...decisionsIn(text) });
        await wait(readEveryMs);
      }
    };
    void read();
  }
  return {
    stop: () => {
      isStopped = true;
    },
    switches: () => readings.flatMap(switchesIn),
  };
}

export function decisionsIn(metrics: string): Decisions {
  const decisions =
    /^partner_network_limiter_decisions_total\{operation="brands",source="(\w+)".*\} (\d+)$/gm;
  const found = [...metrics.matchAll(decisions)];
  const sumOf = (name: string) =>
    found.reduce((sum, [, source, value]) => sum + (source === name ? Number(value) : 0), 0);
  return { redis: sumOf('redis'), local: sumOf('local') };
}

/**
 * A span for each switch between decisions by Redis and decisions by the instance itself. The switch happened
 * at an unknown moment in the span. A process that starts without Redis counts as a loss: it does not know
 * what the process before it admitted.
 */
function switchesIn(readings: readonly (Decisions & Span)[]): Span[] {
  const [first, ...later] = readings;
  if (first === undefined) return [];
  const switches: Span[] = [];
  let before = first;
  let last = { source: 'redis', fromMs: first.sentMs };
  for (const reading of later) {
    const isNewProcess = reading.redis < before.redis || reading.local < before.local;
    if (isNewProcess) last = { source: 'redis', fromMs: before.sentMs };
    const source = sourceOf(isNewProcess ? { redis: 0, local: 0 } : before, reading);
    if (source === 'both' || (source !== 'none' && source !== last.source)) {
      switches.push({ sentMs: last.fromMs, receivedMs: reading.receivedMs });
    }
    if (source !== 'none') last = { source, fromMs: before.sentMs };
    before = reading;
  }
  return switches;
}

/** What decided between two readings. */
export function sourceOf(before: Decisions, after: Decisions): 'none' | 'redis' | 'local' | 'both' {
  const byRedis = after.redis > before.redis;
  const byItself = after.local > before.local;
  if (byRedis) return byItself ? 'both' : 'redis';
  return byItself ? 'local' : 'none';
}

const lookMs = 50;
/** A timer that is this late means a stall. */
const stallMs = 250;

export function watchStalls() {
  const spans: Span[] = [];
  let lastMs = now();
  const timer = setInterval(() => {
    const sentMs = lastMs;
    lastMs = now();
    if (lastMs - sentMs >= lookMs + stallMs) spans.push({ sentMs, receivedMs: lastMs });
  }, lookMs);
  return { spans, stop: () => clearInterval(timer) };
}

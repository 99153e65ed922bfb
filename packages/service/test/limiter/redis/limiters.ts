/** Limiters on a real Redis, each with its own connection like an instance. */
import type { TestContext } from 'node:test';
import { until } from '../../../../testkit/fixtures/lifetime.ts';
import type { Span } from '../../../../testkit/fixtures/spans.ts';
import { type WatchedLog, watchedLog } from '../../../../testkit/watch/logs.ts';
import { openLimiters } from '../../../src/limiter/open.ts';
import type { Decided } from '../../../src/limiter/rate-limit.ts';
import { parseRedisUrl } from '../../../src/limiter/redis/url.ts';

export interface TestLimiter {
  /** By default at the rate of the limiter. */
  admit(partnerId: string, ownRate?: number): Promise<Decided>;
  /** Decides, and adds the times before and after. */
  timed(partnerId: string): Promise<Decided & Span>;
  /** Number of decisions by Redis, or by this instance because Redis was lost. */
  decisions(source: 'redis' | 'local'): number;
  fallbacks(): number;
  instances(): number;
  close(): Promise<void>;
  readonly logs: WatchedLog['logs'];
  readonly lines: WatchedLog['lines'];
}

interface Choices {
  readonly environment?: 'production' | 'sandbox';
  readonly operation?: 'brands' | 'balances';
  readonly rate?: number;
  /** Lowest number of instances to assume. */
  readonly instances?: number;
}

export async function openLimiter(t: TestContext, url: string, choices: Choices = {}): Promise<TestLimiter> {
  const { environment = 'sandbox', operation = 'brands', rate = 50, instances = 1 } = choices;
  const { log, logs, lines } = watchedLog();
  const config = { environment, rates: { [operation]: rate }, instances, redis: parseRedisUrl(url) };
  const opened = await openLimiters(config, log);
  t.after(opened.close);
  const admit = async (partnerId: string, ownRate = rate) =>
    opened.limiters[operation]!.admit(partnerId, ownRate);
  return {
    admit,
    timed: async (partnerId) => {
      const sentMs = performance.now();
      const decision = await admit(partnerId);
      return { ...decision, sentMs, receivedMs: performance.now() };
    },
    decisions: (source) => sumOf(opened, 'decisions_total', source),
    fallbacks: () => sumOf(opened, 'fallbacks_total'),
    instances: () => sumOf(opened, 'instances'),
    close: opened.close,
    logs,
    lines,
  };
}

/** Opens `count` instances, and waits until each knows of all. */
export async function openLimiterInstances(t: TestContext, url: string, count: number) {
  const limiters = await Promise.all(Array.from({ length: count }, () => openLimiter(t, url)));
  await until(20_000, () => limiters.every((limiter) => limiter.instances() === count));
  return limiters;
}

function sumOf({ metrics }: Awaited<ReturnType<typeof openLimiters>>, name: string, source?: string): number {
  const readings = metrics.find((metric) => metric.name === `partner_network_limiter_${name}`)!.read();
  return readings.filter(({ labels }) => labels.source === source).reduce((sum, { value }) => sum + value, 0);
}

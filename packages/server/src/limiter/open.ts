import type { Environment } from '@partner-network/contract/environments';
import type { Operation } from '@partner-network/contract/operations';
import type { Logger } from 'pino';
import { gauge, type Metric, type Reading } from '../observability/metric.ts';
import { createMemoryLimiter } from './memory.ts';
import type { Limiter } from './port.ts';
import { createRedisLimiter } from './redis/limiter.ts';
import { openRedisLink, type RedisLink } from './redis/link.ts';
import type { RedisAddress } from './redis/url.ts';

type ByOperation<T> = Readonly<Partial<Record<Operation['name'], T>>>;

interface LimiterConfig {
  readonly environment: Environment;
  /** Requests per second. An operation with rate 0 is not limited. */
  readonly rates: ByOperation<number>;
  /** Lowest number of instances to assume, whatever Redis reports. */
  readonly instances?: number;
  /** The Redis through which instances count together. Without it each instance counts alone. */
  readonly redis?: RedisAddress | undefined;
}

export interface OpenLimiters {
  readonly limiters: ByOperation<Limiter>;
  readonly metrics: readonly Metric[];
  close(): Promise<void>;
}

export async function openLimiters(
  { environment, rates, instances = 1, redis }: LimiterConfig,
  log: Logger,
): Promise<OpenLimiters> {
  const limited = Object.entries(rates).filter(([, rate]) => rate > 0) as [Operation['name'], number][];
  if (limited.length === 0) return { limiters: {}, metrics: [], close: async () => {} };
  const link = redis && (await openRedisLink(redis, environment, instances, log));
  const limiters = limited.map(([operation, rate]): NamedLimiter => {
    return [
      operation,
      link ? createRedisLimiter(link, environment, operation, rate) : createMemoryLimiter(rate),
    ];
  });
  return {
    limiters: Object.fromEntries(limiters),
    metrics: [decisionsMetric(limiters), ...(link ? [fallbacksMetric(limiters), instancesMetric(link)] : [])],
    close: async () => link?.close(),
  };
}

type NamedLimiter = readonly [operation: string, limiter: Limiter];

function decisionsMetric(limiters: readonly NamedLimiter[]): Metric {
  const readingsOf = ([operation, { tallies }]: NamedLimiter): Reading[] =>
    tallies.flatMap(({ source, admitted, refused }) => [
      { labels: { operation, source, outcome: 'admitted' }, value: admitted },
      { labels: { operation, source, outcome: 'refused' }, value: refused },
    ]);
  return {
    name: 'partner_network_limiter_decisions_total',
    help: 'Decisions of the rate limit: by Redis, locally in its place, or in memory where there is no Redis.',
    type: 'counter',
    read: () => limiters.flatMap(readingsOf),
  };
}

/** The sum of the decisions with source `local`, which `decisionsMetric` has by outcome. */
function fallbacksMetric(limiters: readonly NamedLimiter[]): Metric {
  const readingOf = ([operation, { tallies }]: NamedLimiter): Reading => {
    const { admitted, refused } = tallies.find(({ source }) => source === 'local')!;
    return { labels: { operation }, value: admitted + refused };
  };
  return {
    name: 'partner_network_limiter_fallbacks_total',
    help: 'Decisions of the rate limit that were made locally because Redis did not answer in time.',
    type: 'counter',
    read: () => limiters.map(readingOf),
  };
}

function instancesMetric(link: RedisLink): Metric {
  return gauge(
    'partner_network_limiter_instances',
    'Instances that share the rate limit, as Redis last told.',
    link.knownInstances,
  );
}

import type { Environment } from '@partner-network/contract/environments';
import type { Operation } from '@partner-network/contract/operations';
import type { Logger } from 'pino';
import { type Metric, type Reading, singleMetric } from '../observability/metric.ts';
import { createMemoryLimiter } from './memory.ts';
import type { Limiter } from './port.ts';
import { createRedisLimiter, type RedisLimiter } from './redis/limiter.ts';
import { openRedisLink, type RedisLink } from './redis/link.ts';
import type { RedisAddress } from './redis/url.ts';

type ByOperation<T> = Readonly<Partial<Record<Operation['name'], T>>>;

interface LimiterConfig {
  readonly environment: Environment;
  /** Requests a second; an operation whose rate is 0 is not limited. */
  readonly rates: ByOperation<number>;
  /** How many instances there are at least, until Redis tells. */
  readonly instances?: number;
  /** Where instances count together; without it, each counts alone. */
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
  if (redis === undefined || limited.length === 0) {
    const limiters = limited.map(([operation, rate]) => [operation, createMemoryLimiter(rate)] as const);
    return {
      limiters: Object.fromEntries(limiters),
      metrics: limited.length === 0 ? [] : [decisionsMetric(limiters)],
      close: async () => {},
    };
  }
  const link = await openRedisLink(redis, environment, instances, log);
  const limiters = limited.map(
    ([operation, rate]) => [operation, createRedisLimiter(link, environment, operation, rate)] as const,
  );
  return {
    limiters: Object.fromEntries(limiters),
    metrics: [decisionsMetric(limiters), fallbacksMetric(limiters), instancesMetric(link)],
    close: link.close,
  };
}

type Named<L extends Limiter> = readonly (readonly [operation: string, limiter: L])[];

function decisionsMetric(limiters: Named<Limiter>): Metric {
  const readingsOf = ([operation, { tallies }]: Named<Limiter>[number]): Reading[] =>
    tallies.flatMap(({ source, admitted, refused }) => [
      { labels: { operation, source, outcome: 'admitted' }, value: admitted },
      { labels: { operation, source, outcome: 'refused' }, value: refused },
    ]);
  return {
    name: 'partner_network_limiter_decisions_total',
    help: 'Decisions of the rate limit: by Redis, locally in its place, or in memory where there is no Redis.',
    type: 'counter',
    labels: ['operation', 'source', 'outcome'],
    read: () => limiters.flatMap(readingsOf),
  };
}

function fallbacksMetric(limiters: Named<RedisLimiter>): Metric {
  return {
    name: 'partner_network_limiter_fallbacks_total',
    help: 'Decisions of the rate limit that were made locally because Redis did not answer in time.',
    type: 'counter',
    labels: ['operation'],
    read: () => limiters.map(([operation, { fallbacks }]) => ({ labels: { operation }, value: fallbacks() })),
  };
}

function instancesMetric(link: RedisLink): Metric {
  return singleMetric(
    'partner_network_limiter_instances',
    'gauge',
    'Instances that share the rate limit, as Redis last told.',
    link.instances,
  );
}

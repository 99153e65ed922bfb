import { type Metric, metric, metricOf, type Reading } from '@partner-network/common/observability/metric';
import type { Environment } from '@partner-network/contract/environments';
import type { ListingName } from '@partner-network/contract/operations';
import type { Logger } from 'pino';
import { createMemoryLimiter, type Decided, type Limiter } from './rate-limit.ts';
import type { RedisLink } from './redis/link.ts';
import type { RedisAddress } from './redis/url.ts';

type ByOperation<T> = Readonly<Partial<Record<ListingName, T>>>;

interface LimiterConfig {
  readonly environment: Environment;
  /** Requests per second of partners without a rate of their own; 0 is unlimited. */
  readonly rates: ByOperation<number>;
  /** Lowest number of instances to assume, whatever Redis reports. */
  readonly instances?: number;
  /** The Redis through which instances count together. Without it each instance counts alone. */
  readonly redis?: RedisAddress | undefined;
  /** Decides in another process, which counts for this one, too. */
  readonly admit?: Decide | undefined;
}

export type Decide = (operation: ListingName, partnerId: string, rate: number) => Promise<Decided>;

export async function openLimiters(config: LimiterConfig, log: Logger) {
  const { environment, rates, instances = 1, redis, admit } = config;
  // A process without Redis does not load it.
  const shared = redis && (await import('./redis/link.ts'));
  const link = await shared?.openRedisLink(redis!, environment, instances, log);
  const opened = (Object.entries(rates) as [ListingName, number][]).map(([operation, rate]): NamedLimiter => {
    if (admit) {
      return [
        operation,
        { ratePerSecond: rate, tallies: [], admit: (...about) => admit(operation, ...about) },
      ];
    }
    const limiter = link && shared?.createRedisLimiter(link, environment, operation, rate);
    return [operation, limiter ?? createMemoryLimiter(rate)];
  });
  const limiters: ByOperation<Limiter> = Object.fromEntries(opened);
  return { limiters, metrics: metricsOf(opened, link), close: async () => link?.close() };
}

type NamedLimiter = readonly [operation: string, limiter: Limiter];

function metricsOf(limiters: readonly NamedLimiter[], link: RedisLink | undefined): Metric[] {
  if (limiters.length === 0) return [];
  const decisions = metricOf('partner_network_limiter_decisions_total', () => limiters.flatMap(decisionsOf));
  if (link === undefined) return [decisions];
  return [
    decisions,
    metric('partner_network_limiter_fallbacks_total', () => Object.fromEntries(limiters.map(fallbacksOf))),
    metric('partner_network_limiter_instances', link.knownInstances),
  ];
}

function decisionsOf([operation, { tallies }]: NamedLimiter): Reading[] {
  return tallies.flatMap(({ source, ...counts }) =>
    Object.entries(counts).map(([outcome, value]) => ({ labels: { operation, source, outcome }, value })),
  );
}

/** The sum of the decisions with source `local`, which `decisionsOf` has by outcome. */
function fallbacksOf([operation, { tallies }]: NamedLimiter): readonly [string, number] {
  const { admitted, refused } = tallies.find(({ source }) => source === 'local')!;
  return [operation, admitted + refused];
}

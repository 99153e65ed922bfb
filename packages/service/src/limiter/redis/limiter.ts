import type { Environment } from '@partner-network/contract/environments';
import type { Operation } from '@partner-network/contract/operations';
import { createAdmissions, decide, record } from '../admissions.ts';
import { counted, type Limiter, tallyOf } from '../port.ts';
import type { RedisLink } from './link.ts';

/**
 * A rate limit over all instances that share a Redis: exact while Redis answers. While Redis is lost, each
 * instance admits its share of the rate, counting all its own admissions of the last second.
 *
 * In the second in which Redis is lost or returns, a partner may get up to twice the rate: Redis does not
 * know what the instances admit, and an instance does not know what Redis admitted elsewhere.
 */
export function createRedisLimiter(
  link: RedisLink,
  environment: Environment,
  operation: Operation['name'],
  ratePerSecond: number,
): Limiter {
  const keyPrefix = `partner-network:${environment}:${operation}:`;
  const partners = createAdmissions(ratePerSecond);
  const [byRedis, locally] = [tallyOf('redis'), tallyOf('local')];
  const share = () => Math.max(1, Math.floor(ratePerSecond / link.knownInstances()));

  return {
    ratePerSecond,
    tallies: [byRedis, locally],
    async admit(partnerId) {
      const decision = await link.admit(keyPrefix + partnerId, ratePerSecond);
      const now = performance.now();
      const own = partners.of(partnerId, now);
      if (decision === undefined) return counted(locally, decide(own, share(), now));
      if (decision.isAdmitted) record(own, now);
      return counted(byRedis, decision);
    },
  };
}

import type { Environment } from '@partner-network/contract/environments';
import type { Operation } from '@partner-network/contract/operations';
import { bounds } from '../bounds.ts';
import { createAdmissions, decide, record, takeBack } from './admissions.ts';
import { counted, type Decision, type Limiter, tallyOf } from './port.ts';
import type { RedisLink } from './redis-link.ts';

export interface RedisLimiter extends Limiter {
  /** Decisions that were made here because Redis did not answer in time. */
  fallbacks(): number;
}

/**
 * Exact over all instances that share a Redis. Where Redis does not answer, each instance admits its share of the
 * rate, counting what Redis admitted here before; and for a while after that Redis has the last word within
 * that share only, as it knows nothing of what was admitted without it.
 */
export function createRedisLimiter(
  link: RedisLink,
  environment: Environment,
  operation: Operation['name'],
  ratePerSecond: number,
): RedisLimiter {
  const keyPrefix = `partner-network:${environment}:${operation}:`;
  const partners = createAdmissions(ratePerSecond);
  const [byRedis, locally] = [tallyOf('redis'), tallyOf('local')];
  let fallbacks = 0;

  const share = () => Math.max(1, Math.floor(ratePerSecond / link.instances()));

  function decideWhileHeld(partnerId: string): Decision | undefined {
    if (!link.isAnswering()) return undefined;
    const now = performance.now();
    const own = partners.of(partnerId, now);
    const isHeld = now < Math.max(own.heldUntilMs, link.heldUntilMs());
    return isHeld ? decide(own, share(), now) : undefined;
  }

  return {
    ratePerSecond,
    tallies: [byRedis, locally],
    fallbacks: () => fallbacks,
    async admit(partnerId) {
      const held = decideWhileHeld(partnerId);
      if (held?.isAdmitted === false) return counted(locally, held);

      const answer = await link.admit(keyPrefix + partnerId, ratePerSecond);
      const now = performance.now();
      const own = partners.of(partnerId, now);
      if (answer === undefined) {
        fallbacks += 1;
        const decision = held ?? decide(own, share(), now);
        if (decision.isAdmitted) own.heldUntilMs = now + bounds.rateHoldMs;
        return counted(locally, decision);
      }
      if (held === undefined && answer.isAdmitted) record(own, now);
      if (held !== undefined && !answer.isAdmitted) takeBack(own);
      return counted(byRedis, answer);
    },
  };
}

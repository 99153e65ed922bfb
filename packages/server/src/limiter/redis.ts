import type { Environment } from '@partner-network/contract/environments';
import type { Operation } from '@partner-network/contract/operations';
import { bounds } from '../bounds.ts';
import { type Admissions, createAdmissions, decide, record, takeBack } from './admissions.ts';
import { counted, type Decision, type Limiter, tallyOf } from './port.ts';
import type { RedisLink } from './redis-link.ts';

export interface RedisLimiter extends Limiter {
  /** Decisions that were made here because Redis did not answer in time. */
  fallbacks(): number;
}

/**
 * Exact over all instances that share a Redis. Where Redis does not answer, each instance admits its share:
 * at first of what Redis said was left, and a second later, when nothing of what Redis knew counts any more,
 * of the rate. When Redis is back it decides within that share for a while, as it knows nothing of what was
 * admitted without it.
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

  const shareOf = (requests: number) => Math.floor(requests / link.instances());
  const decideAlone = (own: Admissions, now: number) => decide(own, Math.max(1, shareOf(ratePerSecond)), now);

  function decideWhileHeld(own: Admissions, now: number): Decision | undefined {
    const isHeld = link.isAnswering() && now < Math.max(own.heldUntilMs, link.heldUntilMs());
    return isHeld ? decideAlone(own, now) : undefined;
  }

  function decideWithoutRedis(own: Admissions, now: number): Decision {
    const isSpent = own.spare === 0 && now < own.spareUntilMs;
    if (isSpent) return { isAdmitted: false, left: 0, untilMoreMs: own.spareUntilMs - now };
    const decision = decideAlone(own, now);
    if (decision.isAdmitted) {
      own.spare = Math.max(0, own.spare - 1);
      own.heldUntilMs = now + bounds.rateHoldMs;
    }
    return decision;
  }

  /** Keeps what Redis said, for when it is missed. */
  function note(answer: Decision, own: Admissions, now: number): void {
    if (answer.isAdmitted) record(own, now);
    own.spare = shareOf(answer.left);
    own.spareUntilMs = now + bounds.rateWindowMs;
  }

  return {
    ratePerSecond,
    tallies: [byRedis, locally],
    fallbacks: () => fallbacks,
    async admit(partnerId) {
      const askedMs = performance.now();
      const held = decideWhileHeld(partners.of(partnerId, askedMs), askedMs);
      if (held?.isAdmitted === false) return counted(locally, held);

      const answer = await link.admit(keyPrefix + partnerId, ratePerSecond);
      const now = performance.now();
      const own = partners.of(partnerId, now);
      if (held !== undefined) takeBack(own);
      if (answer === undefined) {
        fallbacks += 1;
        return counted(locally, decideWithoutRedis(own, now));
      }
      note(answer, own, now);
      return counted(byRedis, answer);
    },
  };
}

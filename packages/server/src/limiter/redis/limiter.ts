import type { Environment } from '@partner-network/contract/environments';
import type { Operation } from '@partner-network/contract/operations';
import { limiterBounds } from '../../bounds/limiter.ts';
import { type Admissions, createAdmissions, decide, record, takeBack } from '../admissions.ts';
import { counted, type Decision, type Limiter, tallyOf } from '../port.ts';
import type { RedisLink } from './link.ts';

export interface RedisLimiter extends Limiter {
  /** Decisions that were made here because Redis did not answer in time. */
  fallbacks(): number;
}

/**
 * Exact over all instances that share a Redis. Where Redis does not answer, each instance admits nothing for
 * a second, in which what others were admitted by Redis gets old, and then its share of the rate. When Redis
 * is back it decides within that share for a while, as it knows nothing of what was admitted without it.
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

  /** A single instance knows all that was admitted. */
  function decideAlone(own: Admissions, now: number): Decision {
    const unknownForMs = link.instances() > 1 ? link.unknownUntilMs() - now : 0;
    return unknownForMs > 0 ? refusedFor(unknownForMs) : decide(own, share(), now);
  }

  function decideWhileHeld(own: Admissions, now: number): Decision | undefined {
    const isHeld = link.isAnswering() && now < link.heldUntilMs();
    return isHeld ? decideAlone(own, now) : undefined;
  }

  return {
    ratePerSecond,
    tallies: [byRedis, locally],
    fallbacks: () => fallbacks,
    async admit(partnerId) {
      const askedMs = performance.now();
      const held = decideWhileHeld(partners.of(partnerId, askedMs), askedMs);
      if (held?.isAdmitted === false) return counted(locally, held);

      const answer = await link.admit(keyPrefix + partnerId, ratePerSecond, share());
      const now = performance.now();
      const own = partners.of(partnerId, now);
      if (held !== undefined) takeBack(own);
      if (answer === undefined) {
        fallbacks += 1;
        return counted(locally, decideAlone(own, now));
      }
      // This process stood still. What was admitted for a second that is past would come on top of this one.
      if (now - askedMs >= limiterBounds.rateWindowMs)
        return counted(locally, refusedFor(limiterBounds.rateWindowMs));
      if (answer.isAdmitted) record(own, now);
      return counted(byRedis, answer);
    },
  };
}

function refusedFor(ms: number): Decision {
  return { isAdmitted: false, left: 0, untilMoreMs: ms };
}

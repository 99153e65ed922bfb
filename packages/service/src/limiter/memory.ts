import { createAdmissions, decide } from './admissions.ts';
import { counted, type Limiter, tallyOf } from './port.ts';

/**
 * An exact rate limit for this process alone: no span of one second, wherever it starts, has more admissions
 * than the rate. `nowMs` is a monotonic clock, because the time of day can be set back.
 */
export function createMemoryLimiter(ratePerSecond: number, nowMs: () => number = () => performance.now()) {
  const partners = createAdmissions(ratePerSecond);
  const tally = tallyOf('memory');
  return {
    ratePerSecond,
    tallies: [tally],
    admit(partnerId: string) {
      const now = nowMs();
      return counted(tally, decide(partners.of(partnerId, now), ratePerSecond, now));
    },
  } satisfies Limiter;
}

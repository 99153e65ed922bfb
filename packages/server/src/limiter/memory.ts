import { createAdmissions, decide } from './admissions.ts';
import { counted, type Limiter, tallyOf } from './port.ts';

/**
 * A rate limit for this process alone, exact: no span of one second, wherever it starts, has more admissions
 * than the rate. The clock must never go back, so it is not the time of day.
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

import { createAdmissions, decide } from './admissions.ts';
import { counted, type Limiter, tallyOf } from './port.ts';

/**
 * Exact and in this process: remembers when each admitted request came, so that no span of a second, wherever
 * it starts, holds more than the rate. The clock must never go back, so it is not the time of day.
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

import { bounds } from '../bounds.ts';
import type { Limiter } from './port.ts';

/** When a partner was admitted within the window, oldest first, in a ring as large as the rate. */
interface Admissions {
  readonly timesMs: Float64Array;
  oldest: number;
  count: number;
}

/**
 * Exact and in this process: remembers when each admitted request came, so that no span of a second, wherever
 * it starts, holds more than the rate. The clock must never go back, so it is not the time of day.
 */
export function createMemoryLimiter(ratePerSecond: number, nowMs: () => number = () => performance.now()) {
  const partners = new Map<string, Admissions>();
  let sweepAt: number = bounds.limiterSweepPartners;

  function forgetIdle(now: number): void {
    for (const [partnerId, admissions] of partners) {
      forgetExpired(admissions, now);
      if (admissions.count === 0) partners.delete(partnerId);
    }
    // At twice what is left, so that sweeping costs a constant amount for each new partner.
    sweepAt = Math.max(bounds.limiterSweepPartners, partners.size * 2);
  }

  function admissionsOf(partnerId: string, now: number): Admissions {
    let admissions = partners.get(partnerId);
    if (admissions === undefined) {
      if (partners.size >= sweepAt) forgetIdle(now);
      admissions = { timesMs: new Float64Array(ratePerSecond), oldest: 0, count: 0 };
      partners.set(partnerId, admissions);
    }
    return admissions;
  }

  return {
    ratePerSecond,
    admit(partnerId: string) {
      const now = nowMs();
      const admissions = admissionsOf(partnerId, now);
      forgetExpired(admissions, now);
      const isAdmitted = admissions.count < ratePerSecond;
      if (isAdmitted) {
        admissions.timesMs[(admissions.oldest + admissions.count) % ratePerSecond] = now;
        admissions.count += 1;
      }
      return {
        isAdmitted,
        left: ratePerSecond - admissions.count,
        // In this order no rounding can make it more than the window, which would promise a second too many.
        untilMoreMs: bounds.rateWindowMs - (now - admissions.timesMs[admissions.oldest]!),
      };
    },
  } satisfies Limiter;
}

/** An admission counts for one second: at exactly one second it does not count any more. */
function forgetExpired(admissions: Admissions, now: number): void {
  while (admissions.count > 0 && now - admissions.timesMs[admissions.oldest]! >= bounds.rateWindowMs) {
    admissions.oldest = (admissions.oldest + 1) % admissions.timesMs.length;
    admissions.count -= 1;
  }
}

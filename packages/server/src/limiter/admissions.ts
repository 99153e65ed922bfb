import { limiterBounds } from '../bounds/limiter.ts';
import type { Decision } from './port.ts';

/** When a partner was admitted within the window, oldest first, in a ring as large as the rate. */
export interface Admissions {
  readonly timesMs: Float64Array;
  oldest: number;
  count: number;
}

/** The admissions of each partner in this process. Partners of whom nothing counts any more are forgotten. */
export function createAdmissions(ratePerSecond: number) {
  const partners = new Map<string, Admissions>();
  let sweepAt: number = limiterBounds.limiterSweepPartners;

  function forgetIdle(now: number): void {
    for (const [partnerId, admissions] of partners) {
      forgetExpired(admissions, now);
      if (admissions.count === 0) partners.delete(partnerId);
    }
    // At twice what is left, so that sweeping costs a constant amount for each new partner.
    sweepAt = Math.max(limiterBounds.limiterSweepPartners, partners.size * 2);
  }

  return {
    of(partnerId: string, now: number): Admissions {
      let admissions = partners.get(partnerId);
      if (admissions === undefined) {
        if (partners.size >= sweepAt) forgetIdle(now);
        admissions = { timesMs: new Float64Array(ratePerSecond), oldest: 0, count: 0 };
        partners.set(partnerId, admissions);
      }
      return admissions;
    },
  };
}

/** Admits while fewer than the limit, which is at most the rate, were admitted within the window. */
export function decide(admissions: Admissions, limit: number, now: number): Decision {
  forgetExpired(admissions, now);
  const isAdmitted = admissions.count < limit;
  if (isAdmitted) record(admissions, now);
  // More than the limit count when somebody else admitted them: more is left when fewer than it count.
  const over = Math.max(0, admissions.count - limit);
  const decisive = admissions.timesMs[(admissions.oldest + over) % admissions.timesMs.length]!;
  return {
    isAdmitted,
    left: Math.max(0, limit - admissions.count),
    // In this order no rounding can make it more than the window, which would promise a second too many.
    untilMoreMs: limiterBounds.rateWindowMs - (now - decisive),
  };
}

/** Notes an admission. Where the ring is full, by another clock than ours, the oldest makes room. */
export function record(admissions: Admissions, now: number): void {
  forgetExpired(admissions, now);
  if (admissions.count === admissions.timesMs.length) forgetOldest(admissions);
  admissions.timesMs[(admissions.oldest + admissions.count) % admissions.timesMs.length] = now;
  admissions.count += 1;
}

/** Takes the latest admission back. */
export function takeBack(admissions: Admissions): void {
  admissions.count = Math.max(0, admissions.count - 1);
}

/** An admission counts for one second: at exactly one second it does not count any more. */
function forgetExpired(admissions: Admissions, now: number): void {
  while (admissions.count > 0 && now - admissions.timesMs[admissions.oldest]! >= limiterBounds.rateWindowMs) {
    forgetOldest(admissions);
  }
}

function forgetOldest(admissions: Admissions): void {
  admissions.oldest = (admissions.oldest + 1) % admissions.timesMs.length;
  admissions.count -= 1;
}

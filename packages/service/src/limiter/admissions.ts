import { limiterBounds } from '@partner-network/common/bounds/service';
import type { Decision } from './port.ts';

/** The times of one partner's admissions in the last second, in a ring buffer as large as the rate. */
interface Admissions {
  readonly timesMs: Float64Array;
  /** Index of the oldest time. */
  oldest: number;
  count: number;
}

/** Keeps the admissions of each partner in this process, and removes partners without recent admissions. */
export function createAdmissions(ratePerSecond: number) {
  const partners = new Map<string, Admissions>();
  let sweepAt: number = limiterBounds.sweepPartners;

  function removeIdle(now: number): void {
    for (const [partnerId, admissions] of partners) {
      removeExpired(admissions, now);
      if (admissions.count === 0) partners.delete(partnerId);
    }
    // Sweeps again at twice the remaining number: the cost per new partner is constant.
    sweepAt = Math.max(limiterBounds.sweepPartners, partners.size * 2);
  }

  return {
    of(partnerId: string, now: number): Admissions {
      let admissions = partners.get(partnerId);
      if (admissions === undefined) {
        if (partners.size >= sweepAt) removeIdle(now);
        admissions = { timesMs: new Float64Array(ratePerSecond), oldest: 0, count: 0 };
        partners.set(partnerId, admissions);
      }
      return admissions;
    },
  };
}

/** Admits if fewer than `limit` admissions count. `limit` is at most the rate. */
export function decide(admissions: Admissions, limit: number, now: number): Decision {
  removeExpired(admissions, now);
  const isAdmitted = admissions.count < limit;
  if (isAdmitted) record(admissions, now);
  // Redis may have admitted more than the limit here. The surplus has to expire first.
  const over = Math.max(0, admissions.count - limit);
  const decisive = admissions.timesMs[(admissions.oldest + over) % admissions.timesMs.length]!;
  return {
    isAdmitted,
    left: Math.max(0, limit - admissions.count),
    // In this order rounding cannot make the result longer than the window.
    untilMoreMs: limiterBounds.rateWindowMs - (now - decisive),
  };
}

/** Records an admission. Replaces the oldest if the ring is full: Redis's clock may be faster than ours. */
export function record(admissions: Admissions, now: number): void {
  removeExpired(admissions, now);
  if (admissions.count === admissions.timesMs.length) removeOldest(admissions);
  admissions.timesMs[(admissions.oldest + admissions.count) % admissions.timesMs.length] = now;
  admissions.count += 1;
}

/** An admission that is exactly one second old no longer counts. */
function removeExpired(admissions: Admissions, now: number): void {
  while (admissions.count > 0 && now - admissions.timesMs[admissions.oldest]! >= limiterBounds.rateWindowMs) {
    removeOldest(admissions);
  }
}

function removeOldest(admissions: Admissions): void {
  admissions.oldest = (admissions.oldest + 1) % admissions.timesMs.length;
  admissions.count -= 1;
}

/** Limits the rate of each partner, in the memory of this process. */
import { limiterBounds } from '@partner-network/common/bounds/service';
import { errorRecord } from '@partner-network/contract/errors';
import type { ListingName } from '@partner-network/contract/operations';
import { Refusal } from '@partner-network/http/refusal';

export interface Decision {
  readonly isAdmitted: boolean;
  /** Number of admissions in the last second, with this one. */
  readonly admitted: number;
  /** Number of further requests that would be admitted now. */
  readonly left: number;
  /** Milliseconds until `left` grows by one, because an admission no longer counts. */
  readonly untilMoreMs: number;
}

/** `memory`: this process, without a Redis. `redis`: Redis. `local`: this process, because Redis is lost. */
type Source = 'memory' | 'redis' | 'local';

export interface Decided extends Decision {
  readonly source: Source;
}

/** Number of decisions of one source since the start. */
interface Tally {
  readonly source: Source;
  admitted: number;
  refused: number;
}

/** Limits each partner's admissions in any span of one second. A refused request does not count. */
export interface Limiter {
  /** The default, for partners without a rate of their own; 0 is unlimited. */
  readonly ratePerSecond: number;
  readonly tallies: readonly Readonly<Tally>[];
  admit(partnerId: string, ratePerSecond: number): Promise<Decided> | Decided;
}

export function tallyOf(source: Source): Tally {
  return { source, admitted: 0, refused: 0 };
}

/** Counts a decision and adds its source. */
export function counted(tally: Tally, decision: Decision): Decided {
  tally[decision.isAdmitted ? 'admitted' : 'refused'] += 1;
  return { ...decision, source: tally.source };
}

/** The partner of a key, with its own rates. */
interface LimitedKey {
  readonly partnerId: string;
  readonly limits: Readonly<Partial<Record<ListingName, number>>>;
}

/**
 * Counts the request against its partner's rate, and adds the rate headers. Throws a 429 if it is over.
 * Returns the number of admissions in the last second, and undefined if the partner has no limit.
 */
export async function admit(
  limiter: Limiter | undefined,
  policy: ListingName,
  { partnerId, limits }: LimitedKey,
  headers: string[],
): Promise<number | undefined> {
  const rate = limits[policy] ?? limiter?.ratePerSecond ?? 0;
  if (limiter === undefined || rate === 0) return undefined;
  const { isAdmitted, admitted, left, untilMoreMs } = await limiter.admit(partnerId, rate);
  const seconds = Math.ceil(untilMoreMs / 1_000);
  headers.push('RateLimit-Policy', `"${policy}";q=${rate};w=${limiterBounds.rateWindowMs / 1_000}`);
  headers.push('RateLimit', `"${policy}";r=${left};t=${seconds}`);
  if (isAdmitted) return admitted;
  throw new Refusal(
    [errorRecord('RATE_LIMITED', { rate })],
    ['Retry-After', String(seconds), 'Retry-After-Ms', String(Math.ceil(untilMoreMs))],
  );
}

/**
 * An exact rate limit for this process alone: no span of one second, wherever it starts, has more admissions
 * than the rate. `nowMs` is a monotonic clock, because the time of day can be set back.
 */
export function createMemoryLimiter(ratePerSecond: number, nowMs: () => number = () => performance.now()) {
  const partners = createAdmissions();
  const tally = tallyOf('memory');
  return {
    ratePerSecond,
    tallies: [tally],
    admit(partnerId: string, rate: number) {
      const now = nowMs();
      return counted(tally, decide(partners.of(partnerId, now), rate, now));
    },
  } satisfies Limiter;
}

/** The times of one partner's admissions in the last second, oldest first. */
type Admissions = number[];

/** Keeps the admissions of each partner in this process, and removes partners without recent admissions. */
export function createAdmissions() {
  const partners = new Map<string, Admissions>();
  let sweepAt: number = limiterBounds.sweepPartners;

  function removeIdle(now: number): void {
    for (const [partnerId, admissions] of partners) {
      removeExpired(admissions, now);
      if (admissions.length === 0) partners.delete(partnerId);
    }
    // Sweeps again at twice the remaining number: the cost per new partner is constant.
    sweepAt = Math.max(limiterBounds.sweepPartners, partners.size * 2);
  }

  return {
    of(partnerId: string, now: number): Admissions {
      let admissions = partners.get(partnerId);
      if (admissions === undefined) {
        if (partners.size >= sweepAt) removeIdle(now);
        admissions = [];
        partners.set(partnerId, admissions);
      }
      return admissions;
    },
  };
}

/** Admits if fewer than `limit` admissions count. */
export function decide(admissions: Admissions, limit: number, now: number): Decision {
  removeExpired(admissions, now);
  const isAdmitted = admissions.length < limit;
  if (isAdmitted) admissions.push(now);
  // The limit may have been higher, and Redis may have admitted more. The surplus has to expire first.
  const over = Math.max(0, admissions.length - limit);
  return {
    isAdmitted,
    admitted: admissions.length,
    left: Math.max(0, limit - admissions.length),
    // In this order rounding cannot make the result longer than the window.
    untilMoreMs: limiterBounds.rateWindowMs - (now - admissions[over]!),
  };
}

/** Records an admission by Redis, whose clock may be faster than ours: of too many, the oldest is dropped. */
export function record(admissions: Admissions, rate: number, now: number): void {
  removeExpired(admissions, now);
  if (admissions.length >= rate) admissions.shift();
  admissions.push(now);
}

/** An admission that is exactly one second old no longer counts. */
function removeExpired(admissions: Admissions, now: number): void {
  while (admissions.length > 0 && now - admissions[0]! >= limiterBounds.rateWindowMs) admissions.shift();
}

export interface Decision {
  readonly isAdmitted: boolean;
  /** Number of further requests that would be admitted now. */
  readonly left: number;
  /** Milliseconds until `left` grows by one, because an admission no longer counts. */
  readonly untilMoreMs: number;
}

/** `memory`: this process, without a Redis. `redis`: Redis. `local`: this process, because Redis is lost. */
export type Source = 'memory' | 'redis' | 'local';

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
  readonly ratePerSecond: number;
  readonly tallies: readonly Readonly<Tally>[];
  admit(partnerId: string): Promise<Decided> | Decided;
}

export function tallyOf(source: Source): Tally {
  return { source, admitted: 0, refused: 0 };
}

/** Counts a decision and adds its source. */
export function counted(tally: Tally, decision: Decision): Decided {
  tally[decision.isAdmitted ? 'admitted' : 'refused'] += 1;
  return { ...decision, source: tally.source };
}

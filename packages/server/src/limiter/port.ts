export interface Decision {
  readonly isAdmitted: boolean;
  /** How many more would be admitted now. */
  readonly left: number;
  /** Until one more would be admitted than now; 0 when nothing counts against the caller. */
  readonly untilMoreMs: number;
}

/** What decided: this process for itself, Redis for all, or this process in the place of Redis. */
export type Source = 'memory' | 'redis' | 'local';

/** A decision, and what made it. */
export interface Decided extends Decision {
  readonly source: Source;
}

/** The decisions of one source so far. */
interface Tally {
  readonly source: Source;
  admitted: number;
  refused: number;
}

/** Admits at most so many requests of one partner in any span of a second. A refused one does not count. */
export interface Limiter {
  readonly ratePerSecond: number;
  readonly tallies: readonly Readonly<Tally>[];
  admit(partnerId: string): Promise<Decided> | Decided;
}

export function tallyOf(source: Source): Tally {
  return { source, admitted: 0, refused: 0 };
}

/** Counts a decision, and gives it back with its source. */
export function counted(tally: Tally, decision: Decision): Decided {
  tally[decision.isAdmitted ? 'admitted' : 'refused'] += 1;
  return { ...decision, source: tally.source };
}

interface Decision {
  readonly isAdmitted: boolean;
  /** How many more would be admitted now. */
  readonly left: number;
  /** Until one more would be admitted than now; 0 when nothing counts against the caller. */
  readonly untilMoreMs: number;
}

/** Admits at most so many requests of one partner in any span of a second. A refused one does not count. */
export interface Limiter {
  readonly ratePerSecond: number;
  admit(partnerId: string): Promise<Decision> | Decision;
}

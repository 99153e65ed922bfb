export const authBounds = {
  /** A key counts as good for so long after it was asked for, and so many are remembered. */
  keyKnownMs: 500,
  keysKnown: 10_000,
  /** How long a key that is being replaced still works, if nothing else is said, and at the most. */
  overlapMs: 24 * 3_600_000,
  longestOverlapMs: 3_650 * 24 * 3_600_000,
} as const;

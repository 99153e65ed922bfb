export const authBounds = {
  /** Milliseconds for which a good key is cached, and the number of keys in the cache. */
  keyCacheMs: 500,
  keyCacheEntries: 10_000,
  /** Milliseconds for which a key that is being replaced still works: by default, and at most. */
  overlapMs: 24 * 3_600_000,
  longestOverlapMs: 3_650 * 24 * 3_600_000,
} as const;

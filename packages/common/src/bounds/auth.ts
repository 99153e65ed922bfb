export const authBounds = {
  /** Milliseconds for which a good key is cached, and the number of keys in the cache. */
  keyCacheMs: 500,
  keyCacheEntries: 10_000,
} as const;

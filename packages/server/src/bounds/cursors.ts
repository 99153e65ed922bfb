import { cursorLifetimeHours } from '@partner-network/contract/limits';

export const cursorsBounds = {
  /** Milliseconds between two readings of the cursor keys, and until the retry of a failed one. */
  cursorKeysReadMs: 500,
  cursorKeysRetryMs: 100,
  /** Milliseconds for which a reading is valid. After that, requests that need a cursor are answered 503. */
  cursorKeysStaleMs: 5_000,
  /** Milliseconds until a new key seals cursors. It opens them at once: by then all instances have it. */
  cursorKeySettleMs: 15_000,
  /** Milliseconds for which a key opens cursors after the next one seals: a cursor's life, and clock skew. */
  cursorKeyRestMs: cursorLifetimeHours * 3_600_000 + 60_000,
  /** Milliseconds for which a rotation waits for another rotation. */
  cursorKeyLockMs: 10_000,
  /** Milliseconds after which `doctor` warns that a sealing key is old. */
  cursorKeyAgeMs: 400 * 24 * 3_600_000,
} as const;

import { cursorLifetimeHours } from '@partner-network/contract/limits';

const cursorLifetimeMs = cursorLifetimeHours * 3_600_000;

export const cursorsBounds = {
  /** Milliseconds for which a cursor opens. */
  cursorLifetimeMs,
  /** How far ahead the clock of an instance may be that seals a cursor, ms. */
  cursorAheadMs: 300_000,
  /** Milliseconds between two readings of the cursor keys, and until a failed reading is retried. */
  cursorKeysReadMs: 500,
  cursorKeysRetryMs: 100,
  /** Milliseconds for which a reading is valid. After that, requests that need a cursor are answered 503. */
  cursorKeysStaleMs: 5_000,
  /** Milliseconds until a new key seals cursors: by then all instances can open them. */
  cursorKeySettleMs: 15_000,
  /** Milliseconds for which a key opens cursors after the next one seals: a cursor's life, and clock skew. */
  cursorKeyRestMs: cursorLifetimeMs + 60_000,
  /** Milliseconds for which a rotation waits for another rotation. */
  cursorKeyLockMs: 10_000,
  /** Milliseconds after which `doctor` warns that a sealing key is old. */
  cursorKeyAgeMs: 400 * 24 * 3_600_000,
} as const;

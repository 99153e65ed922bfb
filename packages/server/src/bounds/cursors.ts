import { cursorLifetimeHours } from '@partner-network/contract/limits';

export const cursorsBounds = {
  /** How often an instance reads the keys of cursors, and tries again after that was in vain. */
  cursorKeysReadMs: 500,
  cursorKeysRetryMs: 100,
  /** What it has read is good for so long; then it answers 503 where there is a cursor. */
  cursorKeysStaleMs: 5_000,
  /** A new key opens cursors at once and seals them after this: by then no instance is without it. */
  cursorKeySettleMs: 15_000,
  /** How long a key opens cursors after the next one seals: they live a day, and clocks may differ. */
  cursorKeyRestMs: cursorLifetimeHours * 3_600_000 + 60_000,
  /** How long a rotation waits for another one that is under way. */
  cursorKeyLockMs: 10_000,
  /** A key that seals for longer than this is one that was forgotten. */
  cursorKeyAgeMs: 400 * 24 * 3_600_000,
} as const;

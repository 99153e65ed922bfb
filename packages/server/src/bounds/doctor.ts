export const doctorBounds = {
  /** Fewer than this many open files are too few: each caller takes one. */
  openFiles: 4_096,
  /** Further apart than this, clocks disagree on which keys and grants have expired. */
  clockSkewMs: 1_000,
  doctorClockLooks: 3,
  /** How long a question of `doctor` to a database may take there, and with the way to it. */
  doctorStatementMs: 1_000,
  doctorAnswerMs: 1_500,
  /** How often it looks whether a replica has caught up. */
  doctorLagMs: 50,
  doctorRedisMs: 2_000,
  /** It tells of keys that expire within a week, and of so many of them each by itself. */
  expiryWarningMs: 7 * 24 * 3_600_000,
  doctorShownKeys: 20,
} as const;

export const doctorBounds = {
  /** Open files that a process should be allowed to have: each connection takes one. */
  openFiles: 4_096,
  /** Milliseconds that clocks may differ before they disagree on which keys and grants have expired. */
  clockSkewMs: 1_000,
  /** Milliseconds after which the database ends a statement of `doctor`. */
  doctorStatementMs: 1_000,
  /** Milliseconds that `doctor` waits for a statement, network included. */
  doctorAnswerMs: 1_500,
  /** Milliseconds between two checks whether a replica has caught up. */
  doctorLagMs: 50,
  /** A key is reported if it expires within this time, in ms. */
  expiryWarningMs: 7 * 24 * 3_600_000,
  /** Free space under which a disk counts as full, bytes: a receipts log and an import need more. */
  diskFullBytes: 16 * 1_024 * 1_024,
  /** A disk is nearly full if less than this share is free, … */
  diskShare: 0.1,
  /** … and less than this, bytes. */
  diskSpaciousBytes: 10 * 1_024 ** 3,
  /** Milliseconds between two looks at the receipts that wait. */
  receiptsLookMs: 600,
  /** Replaced keys whose last use is checked. */
  doctorReplacedKeys: 1_000,
  /** Expiring keys that are listed one by one. */
  doctorShownKeys: 20,
} as const;

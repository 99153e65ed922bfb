/** Limits of receipts, key uses and usage. */
export const receiptsBounds = {
  /** Receipts wait this long to be written together, ms. */
  receiptsFlushMs: 250,
  /** Time before a failed write is retried, ms. */
  receiptsRetryMs: 100,
  /** Time before a Citus node that could not take receipts is tried again, ms. */
  receiptsNodeRestMs: 1_000,
  /** Receipts of one write. A batch of this size takes about a millisecond to build. */
  receiptsBatch: 1_000,
  /** Receipts kept in memory while the database is unavailable: 20 MB, and 80 MB with the longest ids. */
  receiptsWaiting: 50_000,
  /** An outage is logged after this time, ms. */
  receiptsOutageMs: 1_000,
  /** How long a shutdown waits for the last receipts, ms. */
  receiptsCloseMs: 2_000,
  /** Keys whose last use is kept in memory. */
  keyUsesNoted: 10_000,
  /** Time between two writes of usage, ms. Counts are stored at most 10 s late. */
  usageWriteMs: 5_000,
  /** Counts of different hours, keys, operations and codes that are kept in memory. */
  usageCounts: 10_000,
  /** A last use that is further ahead of the clock is wrong: any use replaces it. Clocks differ by less. */
  keyUseAheadSeconds: 60,
  /** Receipts of this age are pruned without confirmation, ms: 30 days. */
  receiptsPruneFreelyMs: 30 * 86_400_000,
  /** Receipts that one statement deletes. */
  receiptsPruned: 5_000,
  /** Pause between two deletes, so that `serve` can write, ms. */
  receiptsPruneRestMs: 50,
} as const;

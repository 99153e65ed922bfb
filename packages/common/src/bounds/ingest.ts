export const ingestBounds = {
  /** Bytes of a line, or of a CSV record. */
  importLineBytes: 1024 * 1024,
  /** Records written together. */
  importBatchRecords: 500,
  /** Characters written together: a batch, its text and the batch before it are in memory at once. */
  importBatchCharacters: 1024 * 1024,
  /** Batches queued for the thread that writes to the embedded database. */
  importBatchesAhead: 4,
  /** Characters per COPY to Postgres: each COPY takes three round trips. */
  importCopyCharacters: 1024 * 1024,
  /** Partners or customers of staged rows that a statement names: more are on most nodes anyway. */
  importNamedOwners: 16,
  /** Rejected lines in the report. */
  importReportedLines: 1_000,
  /** Rejected lines shown without --json. */
  importShownLines: 20,
  /** Bytes read from a file at once. Four times as many take 40 MB more memory and are no faster. */
  importReadBytes: 64 * 1024,
  /** Rejections reported per line: a line of 1 MiB can have 90,000 unknown fields. */
  importRejectionsOfLine: 50,
  /** --delete-missing asks before it deletes more than one of this number of records. */
  deleteFreelyFraction: 5,
  /** Milliseconds that a time may be ahead of the clock: a typo of 2099 must not freeze a record. */
  importClockAheadMs: 5 * 60_000,
  /** Milliseconds from the first sign of a wait, up to 750 ms late, to its report, and to the next one. */
  waitReportMs: 500,
  waitReportAgainMs: 10_000,
  /** Milliseconds without a sign of waiting after which the next one begins a new wait. */
  waitGapMs: 2_000,
  /** Milliseconds that a line of a feed waits for others; the rest of 100 ms is for the commit. */
  followCommitMs: 50,
  /** Milliseconds between two entries of a feed in the audit log. */
  followAuditMs: 3_600_000,
  /** Milliseconds between two reports of a feed's lag. */
  followLagMs: 60_000,
  /** Milliseconds without an answer after which a feed abandons an attempt and makes another one. */
  followAnswerMs: 30_000,
  /** Milliseconds between two attempts. */
  followRetryMs: 500,
  /** Milliseconds between two reports of the same outage. */
  followRemindMs: 600_000,
  /** Milliseconds for which a feed retries after a stop signal. */
  followStoppedMs: 5_000,
} as const;

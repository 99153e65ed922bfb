export const ingestBounds = {
  importLineBytes: 1024 * 1024,
  importBatchRecords: 500,
  /** Long records fill a batch sooner: its rows, their text and the batch before it are held at once. */
  importBatchCharacters: 1024 * 1024,
  /** Batches queued for the thread that writes to the embedded database. */
  importBatchesAhead: 4,
  /** What goes to Postgres at once: much, since each time it is asked and answered three times. */
  importCopyCharacters: 1024 * 1024,
  importReportedLines: 1_000,
  importShownLines: 20,
  /** Four times as much takes 40 MB more for what is cut out of it, and is no faster. */
  importReadBytes: 64 * 1024,
  /** A line of 1 MiB can have 90,000 unknown fields; nobody reads more than this many faults of it. */
  importFaultsOfLine: 50,
  /** A line of a feed waits this long for others to go with it; the rest of 100 ms is for the commit. */
  followCommitMs: 50,
  /** How long a feed waits for a database that is away or locked, and between attempts. */
  followPatienceMs: 30_000,
  followRetryMs: 500,
  /** How much longer it waits when it is told to end. */
  followStoppedMs: 5_000,
} as const;

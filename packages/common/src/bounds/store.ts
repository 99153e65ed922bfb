/** Limits of the embedded database and of exports. */
export const storeBounds = {
  /** How long `serve` waits for a lock, ms. It blocks the process; with a write-ahead log it is rare. */
  sqliteServeBusyMs: 250,
  /** How long the start of `serve` waits for a lock, ms: another instance may be starting. */
  sqliteStartBusyMs: 2_000,
  /** How often `serve` checks that nobody replaced its files, ms. A check takes about 70 µs. */
  sqliteWatchMs: 250,
  /** Write-ahead log that is not shrunk, bytes: SQLite merges and reuses a log of 1,000 pages. */
  sqliteLogBytes: 1_000 * 4_096 * 2,
  /**
   * Receipts of an older version that are rewritten at once to give space back, bytes. It takes about 4 s,
   * and `serve` cannot write its receipts meanwhile.
   */
  sqliteVacuumBytes: 256 * 1_024 * 1_024,
  /** Pages that are given back in one transaction: 2 MB, in about 20 ms. */
  sqliteReleasePages: 500,
  /** Page cache of `serve`, KiB. SQLite's default of 2 MB holds about 60 pages of 50 brands. */
  sqliteServeCacheKibibytes: 16 * 1_024,
  /** How long a command waits for a lock, ms: an import may be finishing. */
  sqliteCommandBusyMs: 10_000,
  /** How long a feed waits for a lock, ms. It retries by itself, and must react to signals meanwhile. */
  sqliteFeedBusyMs: 250,
  /** Pause before a locked database is tried again, ms. Signals and other requests are handled in it. */
  lockRetryMs: 100,
  /** Characters that an export collects before it writes them. */
  exportChunkCharacters: 64 * 1024,
  /** Rows that an export reads from Postgres at once. */
  exportBatchRecords: 1_000,
  /** The same for brands: one of an older database can have a megabyte of metadata. */
  exportBatchBrands: 100,
} as const;

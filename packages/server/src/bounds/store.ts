export const storeBounds = {
  /** Blocks the process while it waits, though in WAL mode a reader hardly ever does. */
  sqliteServeBusyMs: 250,
  /** What is in it is not read from the file again. SQLite's own 2 MB hold some 60 pages of 50 brands. */
  sqliteServeCacheKibibytes: 16 * 1_024,
  /** An operator's command may wait for an import to finish. */
  sqliteCommandBusyMs: 10_000,
  /** A feed tries again by itself, and must hear a signal meanwhile. */
  sqliteFeedBusyMs: 250,
  exportChunkCharacters: 64 * 1024,
  exportBatchRecords: 1_000,
  /** A brand can have a megabyte of metadata. */
  exportBatchBrands: 100,
} as const;

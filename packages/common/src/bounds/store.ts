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
  /** How often a feed shrinks a larger one at most, ms. Others wait for up to 250 ms to write meanwhile. */
  sqliteShrinkEachMs: 1_000,
  /** Pages that are given back in one transaction: 2 MB, in about 20 ms. */
  sqliteReleasePages: 500,
  /** Page cache of `serve`, KiB. SQLite's default of 2 MB holds about 60 pages of 50 brands. */
  sqliteServeCacheKibibytes: 16 * 1_024,
  /** Page cache of the thread that writes receipts, KiB: 7 to 16 % less CPU than with the default, 2 MB. */
  sqliteReceiptsCacheKibibytes: 4 * 1_024,
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

export const postgresBounds = {
  /** Timeout of a statement of a request, in ms. The server applies it too, where sessions are kept. */
  statementMs: 2_000,
  /** Timeout of a statement of an operator's command, in ms. Imports and exports have none. */
  commandStatementMs: 60_000,
  /** How long a feed waits for a lock before it reports that and retries, in ms. */
  feedLockMs: 1_000,
  /** How often an import looks for sessions that it waits for, in ms. */
  lockWatchMs: 500,
  /** How long a request waits for a connection while all are busy, or for the primary, in ms. */
  poolWaitMs: 250,
  /** Requests that share a connection, and the time without an answer after which no other joins, in ms. */
  sharedCallers: 4,
  sharedSilenceMs: 20,
  /** How long requests that arrive together share no connection after an answer took that time, in ms. */
  sharedApartMs: 250,
  /** Timeout of opening a connection, in ms. */
  connectMs: 1_000,
  /** The same for a command and the start of the service, which can wait for a busy server. */
  commandConnectMs: 5_000,
  /** Default number of connections of one process to one server. */
  connections: 10,
  /** Largest number of connections that an operator can set. */
  mostConnections: 1_000,
  /** Idle time after which a connection is closed, in ms. */
  idleMs: 60_000,
  /** Age at which a connection is replaced, in ms, so that load moves to servers that were added. */
  lifetimeMs: 1_800_000,
  /** How often the pool looks for an old and an idle connection to close, in ms. */
  upkeepMs: 1_000,
  /** How long closing a connection waits for its statement and for the server, in ms. */
  closeMs: 1_000,
  /** How often the primary is identified, or searched for when it is lost, in ms. */
  lookMs: 200,
  /** Time without an answer after which the search for a primary begins, in ms. */
  silenceMs: 450,
  /** How long requests still use a primary that is silent, in ms. */
  slowMs: 1_000,
  /** Time in which the statements of both listings must run on a node, for a health probe, in ms. */
  probeMs: 500,
  /** Timeout of these statements, in ms. Until then, a frozen node gets no second probe. */
  probeStatementMs: 10_000,
  /** Age at which a connection of health probes is replaced, in ms, so that probes open new ones. */
  probeLifetimeMs: 10_000,
  /** How long probes may fail to open a connection before the instance is not ready, in ms. */
  unopenedMs: 12_000,
  /** How long health probes share a result, in ms. */
  probeShareMs: 1_000,
  /** How often the log positions of the primary and the replicas are compared, in ms. */
  replicaWatchMs: 200,
  /** A replica that is further behind than this is not read from, in ms. */
  replicaLagMs: 1_000,
  /** Time after which a page is read from the primary instead of a slow replica, in ms. */
  replicaAnswerMs: 500,
  /** Pause before a replica that has not replayed far enough for a page is tried once more, in ms. */
  replicaCatchUpMs: 50,
  /** How long past log positions of the primary are remembered to measure a replica's lag, in ms. */
  replicaMarksMs: 60_000,
  /** Time without an answer of a Citus node after which it gets half of the connections, in ms. */
  slowNodeMs: 100,
  /** Largest number of replicas. */
  mostReplicas: 16,
  /** How long a migration waits for another one on the same database, in ms. Enough for twenty at once. */
  migrationWaitMs: 60_000,
  /** How often it tries again, in ms. */
  migrationPollMs: 100,
  /** How long a migration waits for a lock on a table, in ms: all other statements queue behind it. */
  migrationLockMs: 2_000,
} as const;

/** Limits of rehearsals, which only a sandbox has. */
export const rehearsalsBounds = {
  /** Milliseconds without a request after which a run is forgotten, and the number of runs. */
  runIdleMs: 10 * 60_000,
  runs: 10_000,
  /** Requests that are kept: of one run, and of all runs together (30 MB, and 120 MB with the longest paths). */
  runRequests: 1_000,
  requests: 100_000,
  /** Characters of a path with its query that are shown: a page with the longest cursor fits. */
  pathCharacters: 1_200,
  /** Cursors of a run whose page is known. Only the newest matter, to find the third page. */
  runCursors: 16,
  /** Failed requests of a run that the client has not sent again. */
  runFailures: 16,
  /** Keys of one request that are looked up until one is known. */
  keysTried: 3,
  /** Milliseconds that the client of a 429 has to wait. */
  retryAfterMs: 500,
  /** Milliseconds by which a client may be early, because timers are not exact. */
  timerToleranceMs: 10,
  /** Milliseconds after a failure in which no request may come. */
  hammerMs: 50,
  /** Requests for one page. */
  pageRequests: 5,
  /** Milliseconds until a stalled connection is closed, and the number of stalled connections. */
  stallMs: 30_000,
  stalls: 100,
  /** Connections to the address that a redirect leads to. */
  watchedConnections: 256,
} as const;

/** The same limits with other values, for tests. */
export type RehearsalsBounds = Readonly<Record<keyof typeof rehearsalsBounds, number>>;

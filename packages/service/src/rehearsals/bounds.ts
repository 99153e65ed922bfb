/** Limits of rehearsals, which only a sandbox has. */
export const rehearsalsBounds = {
  /** Milliseconds without a request after which a run is forgotten, and the number of runs. */
  runIdleMs: 10 * 60_000,
  runs: 10_000,
  /** Requests that are kept of one run, and of all runs: 30 MB, and 130 MB with the longest paths. */
  runRequests: 1_000,
  requests: 100_000,
  /** Characters of a path with its query that are shown. The longest cursor fits. */
  pathCharacters: 1_200,
  /** Milliseconds for which a 429 asks the client to wait, and by which a client's timer may be early. */
  retryAfterMs: 500,
  timerToleranceMs: 10,
  /** Requests for one page, and milliseconds after a failure in which no request may come. */
  pageRequests: 5,
  hammerMs: 50,
  /** Milliseconds by which a timer for a few milliseconds may be early: Node counts whole milliseconds. */
  timerStepMs: 1,
  /** Milliseconds until a stalled connection is closed, and the number of stalled connections. */
  stallMs: 30_000,
  stalls: 100,
};

export type RehearsalsBounds = Readonly<Record<keyof typeof rehearsalsBounds, number>>;

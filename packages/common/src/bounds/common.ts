export const commandLineBounds = {
  /** Records that a list shows without --limit, also with --json if it is a log, and the highest --limit. */
  listShown: 50,
  listShownInJson: 1_000,
  listShownAtMost: 1_000_000_000,
  /** Records that these lists read at once. */
  listPage: 1_000,
  /** Characters of the actor of an audit entry, at most. The database checks it too. */
  actorCharacters: 256,
  /** How often a reader of the audit log looks for new entries. */
  followPollMs: 500,
  /** Characters of the reason for a change, at most. */
  reasonCharacters: 256,
  /** Milliseconds between two reports that a revocation still waits for a lock. */
  notYetMs: 2_000,
  /** Characters of a host name, at most. */
  hostCharacters: 255,
  /** Characters of a file path, at most. */
  pathCharacters: 4_096,
  /** Milliseconds that `ready` waits for an answer. */
  readyAnswerMs: 3_000,
  /** Pause before `ready --wait` asks again, ms. */
  readyRetryMs: 100,
  /** Longest time that `ready --wait` can wait, in seconds. */
  mostReadyWaitSeconds: 3_600,
  /** Milliseconds of work until a terminal shows it, and between two updates of the line. */
  progressAfterMs: 2_000,
  progressMs: 100,
  /** Milliseconds between two lines about the progress in a pipe. */
  progressPipeMs: 10_000,
  /** Errors of an answer that are shown, at most: an answer of another server may have any number. */
  shownErrors: 20,
  /** Characters of one shown error, at most. */
  shownErrorCharacters: 500,
  /** Scenarios that `rehearse` runs at the same time, and the longest time for each, in seconds. */
  rehearsedAtOnce: 4,
  mostRehearsalSeconds: 3_600,
  /** Characters of a rehearsed program's output that are kept, from its end. */
  keptOutputCharacters: 4_000,
  /** Milliseconds that the rest of a program's output is waited for after its end. */
  outputWaitMs: 500,
  /** How often a verdict is requested until the sandbox answers, and the pause between, ms. */
  verdictAttempts: 10,
  verdictRetryMs: 500,
} as const;

export const observabilityBounds = {
  /** Milliseconds between measurements of the event loop delay: 0.2 % of a CPU; with 20 ms it is 0.9 %. */
  eventLoopTickMs: 100,
  /** How long the metrics wait for the key that expires first, in ms: a frozen database may not answer. */
  keyExpiryAnswerMs: 1_000,
  /** Milliseconds without a failed request after which the log says so. Probes come every 10 s or sooner. */
  failuresQuietMs: 15_000,
  /** Milliseconds between two lines about requests that keep failing. */
  failuresRemindMs: 600_000,
  /** Most causes of failed requests that get a line of their own. */
  failuresCauses: 8,
  /** Most bytes of one write to the log. A pipe takes 4 KiB whole, so the lines of workers do not mix. */
  logPieceBytes: 4_096,
  /** Characters of the log that wait in memory to be written. */
  logWaitingCharacters: 8 * 1_024 * 1_024,
} as const;

export const serveBounds = {
  /** Most workers of a supervisor. */
  mostWorkers: 64,
  /** Milliseconds before a worker that ended is replaced, so that a worker that always fails costs little. */
  workerRestartMs: 500,
  /** Milliseconds that a worker has to send its metrics before it is left out. */
  workerAnswerMs: 500,
  /** Longest drain delay that an operator can set, in seconds. */
  mostDrainDelaySeconds: 3_600,
  /** Time between two warnings that other instances do not share the rate limit, ms. */
  instancesWarningMs: 3_600_000,
} as const;

/** Limits of the administrative service. */
export const adminBounds = {
  /** Milliseconds until a change is answered after its body has arrived, and a batch. */
  changeMs: 8_000,
  batchMs: 30_000,
  /** Batches that are written at a time, that wait to be read or written, and for how long in all, ms. */
  batches: 4,
  batchesWaiting: 64,
  batchWaitMs: 2_000,
  /** Bytes of bodies in memory: one of 16 MiB and smaller ones. With 30 of 16 MiB a process takes 180 MB. */
  bodiesBytes: 24 * 1024 * 1024,
  /** How long a change waits for a lock of another command, ms. */
  lockMs: 2_000,
  /** Milliseconds for which a connection with its temporary tables is kept for the next batch. */
  idleRunMs: 30_000,
  /** Milliseconds between two audit entries about the batches of a key. */
  auditMs: 3_600_000,
  /** Names in `On-Behalf-Of` that are remembered for it. After more, a name may get a second entry. */
  auditNames: 1_000,
  /** How long the embedded database waits for a lock, ms. It blocks the process. */
  sqliteBusyMs: 100,
  /** Milliseconds between two changes that are tried and rolled back, and after the database was lost. */
  writeProbeMs: 15_000,
  writeRetryMs: 1_000,
  /** How long a person stays signed in to the console, ms. */
  sessionMs: 8 * 3_600_000,
  /** How far ahead the clock of an instance may be that issues a session, ms. */
  sessionAheadMs: 60_000,
} as const;

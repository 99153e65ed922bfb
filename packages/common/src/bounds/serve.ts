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

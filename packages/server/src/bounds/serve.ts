export const serveBounds = {
  workers: 64,
  /** A worker that ended is replaced after this, so that one that cannot live does not keep us busy. */
  workerRestartMs: 500,
  /** A worker that takes longer to tell its metrics is left out of them. */
  workerAnswerMs: 500,
  /** The longest drain delay that can be set. */
  drainDelaySeconds: 3_600,
} as const;

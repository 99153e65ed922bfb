/** Limits of the administrative service. */
export const adminBounds = {
  /** Milliseconds until a request is answered, and a batch after its body has arrived. */
  answerMs: 30_000,
  /** Batches that are written at a time, and that wait for it, and for how long, ms. */
  batches: 4,
  batchesWaiting: 64,
  batchWaitMs: 2_000,
  /** Bytes of bodies in memory. Further bodies wait, so 30 bodies of 16 MiB take no more than 4. */
  bodiesBytes: 64 * 1024 * 1024,
  /** Milliseconds between two attempts while another command holds a lock. */
  lockRetryMs: 100,
  /** Milliseconds for which a connection with its temporary tables is kept for the next batch. */
  idleRunMs: 30_000,
  /** Milliseconds between two audit entries about the batches of a key. */
  auditMs: 3_600_000,
  /** How long the embedded database waits for a lock, ms. It blocks the process. */
  sqliteBusyMs: 100,
} as const;

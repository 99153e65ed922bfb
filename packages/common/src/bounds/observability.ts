export const observabilityBounds = {
  /** Milliseconds between measurements of the event loop delay: 0.2 % of a CPU; with 20 ms it is 0.9 %. */
  eventLoopTickMs: 100,
  /** How often the metrics look for the key that expires first, in ms. This reads all keys. */
  keyExpiryMs: 10_000,
  /** How long the metrics wait for the answer, in ms: a frozen database must not delay them for long. */
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

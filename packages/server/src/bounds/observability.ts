export const observabilityBounds = {
  /** Milliseconds between measurements of the event loop delay: 0.2 % of a CPU; with 20 ms it is 0.9 %. */
  eventLoopTickMs: 100,
  /** Bytes of the log that are written at once, which a pipe takes as a whole. */
  logPieceBytes: 4_096,
  /** Characters of the log that wait in memory to be written. */
  logWaitingCharacters: 8 * 1_024 * 1_024,
} as const;

export const observabilityBounds = {
  /** How often a process looks by how late it is: 0.2 % of an idle processor; every 20 ms would take 0.9. */
  eventLoopTickMs: 100,
  /** So much of the log is written at a time, which a pipe takes whole, and so much of it waits at most. */
  logPieceBytes: 4_096,
  logWaitingCharacters: 8 * 1_024 * 1_024,
} as const;

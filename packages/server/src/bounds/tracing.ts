export const tracingBounds = {
  /** Spans are sent this often, and sooner in batches of so many, which take 0.5 ms to write down. */
  tracesDelayMs: 1_000,
  tracesBatch: 256,
  /** What waits for a collector that is away, in 8 MB; more than that is lost. */
  tracesWaiting: 8_192,
  /** How long a collector may take for all of an answer, and how many (of 4 MiB at the most) it may owe. */
  tracesAnswerMs: 2_000,
  tracesUnderWay: 40,
  /** What is left at the end is sent for as long as this. */
  tracesCloseMs: 2_500,
  /** How often operators are told that traces are lost. */
  tracesWarnMs: 60_000,
} as const;

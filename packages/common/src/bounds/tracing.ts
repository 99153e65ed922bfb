export const tracingBounds = {
  /** Milliseconds between two batches of spans; a full batch is sent at once. */
  tracesDelayMs: 1_000,
  /** Spans in a full batch, which take 0.5 ms to serialize. */
  tracesBatch: 256,
  /** Spans that wait in memory for the collector, about 8 MB; further spans are lost. */
  tracesWaiting: 8_192,
  /** Milliseconds that the collector may take for a whole answer. */
  tracesAnswerMs: 2_000,
  /** Batches sent but not answered, at most; the exporter reads up to 4 MiB of each answer. */
  tracesUnderWay: 40,
  /** Milliseconds for sending the remaining spans when the process ends. */
  tracesCloseMs: 2_500,
  /** Milliseconds between two log lines about lost spans. */
  tracesWarnMs: 60_000,
} as const;

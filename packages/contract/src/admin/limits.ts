/** The limits of the administrative API that a client can meet. */
export const adminLimits = {
  /** Bytes of a JSON body. */
  bodyBytes: 64 * 1024,
  /** Lines and unpacked bytes of a batch. */
  batchLines: 10_000,
  batchBytes: 16 * 1024 * 1024,
  /** Errors that the answer to a batch lists. */
  batchErrors: 1_000,
  /** Seconds until a body must have arrived. */
  bodySeconds: 30,
  /** Characters of a reason, and of the name in `On-Behalf-Of`. */
  reasonCharacters: 256,
} as const;

export const receiptsBounds = {
  /** Receipts are written this often, and tried again this long after that was in vain. */
  receiptsFlushMs: 250,
  receiptsRetryMs: 100,
  /** Rows of one statement, which take a millisecond to put together. */
  receiptsBatch: 1_000,
  /** What is kept while the database does not take them: about 20 MB, and 80 with the longest of ids. */
  receiptsWaiting: 50_000,
  /** When they have not been written for this long, operators are told. */
  receiptsOutageMs: 1_000,
  receiptsCloseMs: 2_000,
  /** A thread that writes them is started this long after the one before at the soonest. */
  receiptsThreadMs: 1_000,
  /** Keys of which the minute of their last use is kept in mind. */
  keyUsesNoted: 10_000,
  /** Receipts that a command reads at once, shows if nothing else is said, and removes at once. */
  receiptsPage: 1_000,
  receiptsShown: 1_000,
  receiptsShownAtMost: 1_000_000_000,
  receiptsPruned: 5_000,
  /** Between two removals, in which those who serve can write. */
  receiptsPruneRestMs: 50,
} as const;

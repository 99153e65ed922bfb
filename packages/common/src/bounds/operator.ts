export const ingestBounds = {
  /** Bytes of a line, or of a CSV record. */
  importLineBytes: 1024 * 1024,
  /** Records written together. */
  importBatchRecords: 500,
  /** Characters written together: a batch, its text and the batch before it are in memory at once. */
  importBatchCharacters: 1024 * 1024,
  /** Batches queued for the thread that writes to the embedded database. */
  importBatchesAhead: 4,
  /** Characters per COPY to Postgres: each COPY takes three round trips. */
  importCopyCharacters: 1024 * 1024,
  /** Partners or customers of staged rows for which Citus is asked one by one. */
  importNamedOwners: 16,
  /** Rejected lines in the report. */
  importReportedLines: 1_000,
  /** Rejected lines shown without --json. */
  importShownLines: 20,
  /** Bytes read from a file at once. Four times as many take 40 MB more memory and are no faster. */
  importReadBytes: 64 * 1024,
  /** Rejections reported per line: a line of 1 MiB can have 90,000 unknown fields. */
  importRejectionsOfLine: 50,
  /** --delete-missing asks before it deletes more than one of this number of records. */
  deleteFreelyFraction: 5,
  /** Milliseconds that a time may be ahead of the clock: a typo of 2099 must not freeze a record. */
  importClockAheadMs: 5 * 60_000,
  /** Milliseconds from the first sign of a wait, up to 750 ms late, to its report, and to the next one. */
  waitReportMs: 500,
  waitReportAgainMs: 10_000,
  /** Milliseconds without a sign of waiting after which the next one begins a new wait. */
  waitGapMs: 2_000,
  /** Milliseconds that a line of a feed waits for others; the rest of 100 ms is for the commit. */
  followCommitMs: 50,
  /** Milliseconds between two entries of a feed in the audit log. */
  followAuditMs: 3_600_000,
  /** Milliseconds between two reports of a feed's lag. */
  followLagMs: 60_000,
  /** Milliseconds without an answer after which a feed abandons an attempt and makes another one. */
  followAnswerMs: 30_000,
  /** Milliseconds between two attempts. */
  followRetryMs: 500,
  /** Milliseconds between two reports of the same outage. */
  followRemindMs: 600_000,
  /** Milliseconds for which a feed retries after a stop signal. */
  followStoppedMs: 5_000,
} as const;

export const imagesBounds = {
  /** Images downloaded at the same time. */
  downloads: 8,
  /** Milliseconds for one image, redirects included. */
  downloadMs: 5_000,
  /** Redirects followed for one image. */
  redirects: 3,
  /** Milliseconds until a DNS query is sent again; the second try waits twice as long. */
  dnsMs: 1_000,
  /** DNS queries sent per name. */
  dnsTries: 2,
  /** Finished reports that may wait for an earlier brand, because reports keep the order of the brands. */
  resultsAhead: 100,
  /** Results remembered for brands that share an image: about 500 bytes each. */
  resultsCached: 10_000,
  /** Faulty images listed in the table; --json lists all. */
  shownFaulty: 1_000,
} as const;

export const doctorBounds = {
  /** Open files that a process should be allowed to have: each connection takes one. */
  openFiles: 4_096,
  /** Milliseconds that clocks may differ before they disagree on which keys and grants have expired. */
  clockSkewMs: 1_000,
  /** Milliseconds after which the database ends a statement of `doctor`. */
  statementMs: 1_000,
  /** Milliseconds that `doctor` waits for a statement, network included. */
  answerMs: 1_500,
  /** Milliseconds between two checks whether a replica has caught up. */
  lagMs: 50,
  /** A key is reported if it expires within this time, in ms. */
  expiryWarningMs: 7 * 24 * 3_600_000,
  /** Free space under which a disk counts as full, bytes: a receipts log and an import need more. */
  diskFullBytes: 16 * 1_024 * 1_024,
  /** A disk is nearly full if less than this share is free, … */
  diskShare: 0.1,
  /** … and less than this, bytes. */
  diskSpaciousBytes: 10 * 1_024 ** 3,
  /** Milliseconds between two looks at the receipts that wait. */
  receiptsLookMs: 600,
  /** Replaced keys whose last use is checked. */
  replacedKeys: 1_000,
  /** Expiring keys that are listed one by one. */
  shownKeys: 20,
} as const;

/** Limits of the administrative service. */
export const adminBounds = {
  /** Time to answer a change, and a batch, after its body has arrived, ms. */
  changeMs: 8_000,
  batchMs: 30_000,
  /** Batches that are written at a time, that wait to be read or written, and for how long in all, ms. */
  batches: 4,
  batchesWaiting: 64,
  batchWaitMs: 2_000,
  /** Bytes of bodies in memory: one of 16 MiB and smaller ones. With 30 of 16 MiB a process takes 180 MB. */
  bodiesBytes: 24 * 1024 * 1024,
  /** How long a change waits for a lock of another command, ms. */
  lockMs: 2_000,
  /** Milliseconds for which a connection with its temporary tables is kept for the next batch. */
  idleRunMs: 30_000,
  /** Milliseconds between two audit entries about the batches of a key. */
  auditMs: 3_600_000,
  /** Names in `On-Behalf-Of` that are remembered for it. After more, a name may get a second entry. */
  auditNames: 1_000,
  /** How long the embedded database waits for a lock, ms. It blocks the process. */
  sqliteBusyMs: 100,
  /** Downloads of the console at a time, and records that are read at once for them: 5 ms on SQLite. */
  downloads: 4,
  downloadedAtOnce: 500,
  /** Milliseconds between two changes that are tried and rolled back, and after the database was lost. */
  writeProbeMs: 15_000,
  writeRetryMs: 1_000,
  /** How long a person with a key stays signed in to the console, ms. */
  sessionMs: 8 * 3_600_000,
  /** How long a browser keeps the cookie: an ended session still says who was signed in, ms. */
  cookieMs: 24 * 3_600_000,
  /** The longest address to return to: browsers keep cookies of up to 4,096 bytes. */
  returnCharacters: 2_000,
  /** How long the first page keeps what takes long to find out, and how long it waits for it, ms. */
  keptMs: 60_000,
  keptWaitMs: 120,
  /** The first page shows a key that expires within this time, in ms. */
  expiryShownMs: 14 * 24 * 3_600_000,
  /** How far ahead the clock of an instance may be that issues a session, ms. */
  sessionAheadMs: 60_000,
} as const;

/** Limits of sign-in with an identity provider. */
export const identityBounds = {
  /** Time for each answer of the provider, ms, and its largest size, bytes. */
  fetchMs: 5_000,
  answerBytes: 1_024 * 1_024,
  /** Time to answer a request that waits for up to four answers of the provider, ms. */
  signInMs: 22_000,
  /** Milliseconds after which what the provider says of itself, and its keys, are fetched again. */
  askAgainMs: 10_000,
  /** Seconds by which the clocks may differ. */
  toleranceSeconds: 60,
  /** Time for a person to sign in at the provider, and to get a form back after the end of a session, ms. */
  underWayMs: 600_000,
  /** Milliseconds between two audit entries about sign-ins of an account, and accounts remembered for it. */
  auditMs: 60_000,
  auditAccounts: 10_000,
} as const;

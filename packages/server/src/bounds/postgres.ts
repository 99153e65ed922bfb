export const postgresBounds = {
  /** Set on the server, and kept by us when the server does not. */
  postgresStatementMs: 2_000,
  /** A statement of an operator's command; an import takes as long as it takes. */
  commandStatementMs: 60_000,
  /** How long a request waits for one of the connections when all are in use. */
  postgresPoolWaitMs: 250,
  postgresConnectMs: 1_000,
  /** Connections of one process to one server, if nothing else is set, and at the most. */
  postgresConnections: 10,
  mostPostgresConnections: 1_000,
  postgresIdleMs: 60_000,
  /** How often the oldest of those that are kept goes back to the pool, which closes what is old or idle. */
  postgresKeptMs: 1_000,
  /** A connection is renewed after half an hour, so that load finds its way to a server that is new. */
  postgresConnectionSeconds: 1_800,
  postgresCloseMs: 1_000,
  /** How often the server is asked whether it is there, and looked for when it is not. */
  postgresLookMs: 200,
  /** A server that takes longer to say who it is, is looked for elsewhere, too. */
  postgresSilenceMs: 450,
  /** A server that is silent for longer than this is asked nothing more until it is heard of. */
  postgresSlowMs: 1_000,
  /** How often the primary and the replicas are asked where they are. */
  replicaWatchMs: 200,
  /** A replica that is further behind is left out. */
  replicaLagMs: 1_000,
  /** A replica that takes longer is given up for the primary. */
  replicaAnswerMs: 500,
  /** A replica that has not come as far as a walk is asked again after this, and then the primary is. */
  replicaCatchUpMs: 50,
  /** How long it is remembered where the primary was, to tell how far behind a replica is. */
  replicaMarksMs: 60_000,
  replicas: 16,
  /** Twenty that migrate at once wait for each other this long. */
  migrationWaitMs: 60_000,
  migrationAskMs: 100,
  /** A migration gives up on a lock after this, because everybody waits behind it. */
  migrationLockMs: 2_000,
} as const;

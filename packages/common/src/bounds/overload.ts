export const overloadBounds = {
  /** Waiting requests that begin in one turn of the event loop, and milliseconds after which no more begin. A
   * turn accepts one connection, so turns of 5 ms accept 200 a second, however much there is to do. */
  turnRequests: 10,
  turnMs: 4,
  /** Places for requests, for each database connection: enough to keep it busy. With ten connections and 500
   * pages a second, the last of them is answered within 60 ms. */
  requestsPerDatabaseConnection: 3,
  /** Share of the database connections that one partner may use. */
  partnerShare: 0.5,
  /** Requests of one partner that wait for its share, more than its rate admits at once, and for how long. */
  partnerQueue: 100,
  shareWaitMs: 250,
  /** Milliseconds for which a request may wait, and the number of requests that wait. */
  requestWaitMs: 150,
  requestsWaiting: 1_000,
  /** Milliseconds between checks for requests that waited too long, while no place is free. */
  waitingSweepMs: 10,
  /** 503s that are sent without delay: in a second, and at once. When `shedHoldMs` was 500, a thousand
   * clients that retried cost a tenth of the good answers: reading a request costs more than a 503. */
  shedPerSecond: 500,
  shedBurst: 100,
  /** Longest delay of the other 503s, in ms. */
  shedHoldMs: 1_000,
  /** Milliseconds without a shed request after which the log says that shedding is over. */
  sheddingQuietMs: 1_000,
} as const;

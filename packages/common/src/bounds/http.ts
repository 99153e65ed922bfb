export const httpBounds = {
  /** Bytes of request line and headers. A reference_id of 1,024 emoji takes 12,288 of them. */
  requestHeadBytes: 16 * 1024,
  /** Headers of a request: Node takes 0.7 µs for each. */
  requestHeaders: 200,
  /** Parameters of a query that are read: far more than an operation has. */
  queryParameters: 100,
  /** Milliseconds until the headers, and the whole request, must have arrived; and between checks for it. */
  headersTimeoutMs: 5_000,
  requestTimeoutMs: 10_000,
  connectionsCheckMs: 1_000,
  /** Milliseconds until an idle connection is closed: longer than the usual balancers wait (60 s), so that
   * they close first. */
  keepAliveMs: 65_000,
  /** Client connections, each of 20 to 30 kB. Above this, idle connections are closed. */
  connections: 10_000,
  /** Connections of operators. */
  operationsConnections: 256,
  /** Connections that the kernel queues until the process accepts them, as far as the kernel's limit allows.
   * Node's default of 511 is full after 0.1 s at 5,000 connections a second. Then all clients wait. */
  acceptBacklog: 4_096,
  /** Requests after which a connection is closed, so that balancers spread their connections again. */
  requestsPerConnection: 1_000,
  /** Characters of responses that clients have not read. A single page may be larger. */
  unreadCharacters: 64 * 1024 * 1024,
  /** Milliseconds between two log lines about closed connections. */
  connectionsLogMs: 10_000,
  /** Milliseconds without any progress after which a socket is closed in the middle of a response. */
  stalledSocketMs: 10_000,
  /** Milliseconds for which a connection stays open after its last bytes, to be read. */
  lingerMs: 1_000,
  /** Bytes of a body that are dropped after the last response of a connection. */
  lingerBytes: 64 * 1024 * 1024,
  /** Pipelined requests on one connection, and on all of them: up to 20 kB each, so 40 MB. */
  pipelinedRequests: 100,
  requestsAhead: 2_000,
  /** Seconds after which the client of a 503 may retry. */
  retryAfterSeconds: 1,
  /** Milliseconds until every request is answered. The rest of the promised 2 s is for a busy machine. */
  answerMs: 1_750,
  /** Milliseconds for content made on first use: packing the command line takes 0.6 s of CPU. */
  contentMs: 10_000,
  /** Milliseconds that requests get to finish after the listener is closed, and between checks for idle
   * connections meanwhile. */
  drainMs: 25_000,
  drainSweepMs: 100,
  /** Milliseconds for which queued connections are still accepted before the listener is closed. */
  lastAcceptsMs: 250,
  /** Shares of the open files for clients and for operators. The rest is for databases and others. */
  clientsShare: 0.75,
  operatorsShare: 0.05,
} as const;

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

export const httpBounds = {
  /** Request line and headers together. A reference_id of 1,024 emoji takes 12,288 of them. */
  requestHeadBytes: 16 * 1024,
  headersTimeoutMs: 5_000,
  requestTimeoutMs: 10_000,
  connectionsCheckMs: 1_000,
  /** Longer than the idle time of the usual balancers (60 s), so that they close first. */
  keepAliveMs: 65_000,
  /** Each takes 20 to 30 kB. Past them, those who ask for nothing make room. */
  connections: 10_000,
  operationsConnections: 256,
  /** Callers that the system keeps until we accept them, as far as it keeps so many. Node's own 511 is
   * full after a tenth of a second in which 5,000 come a second, and then others are kept waiting, too. */
  acceptBacklog: 4_096,
  /** It is then closed after its answer, so that balancers spread their connections anew. */
  requestsOfConnection: 1_000,
  /** Text of answers that wait to be read. One page alone may be larger. */
  unreadCharacters: 64 * 1024 * 1024,
  /** How often the log tells that connections are closed to make room. */
  connectionsTellMs: 10_000,
  /** A socket on which nothing moves for this long, in the middle of an answer, is given up. */
  stalledSocketMs: 10_000,
  /** After its last bytes a connection is given this long to be read. */
  lingerMs: 1_000,
  /** Requests sent ahead on one connection, and on all of them: up to 20 kB each, so 40 MB. */
  pipelinedRequests: 100,
  requestsAhead: 2_000,
  /** What a 503 asks the caller to wait. */
  retryAfterSeconds: 1,
  /** Whatever happens behind it, a request is answered by then; the rest of 2 s is for a busy machine. */
  answerMs: 1_750,
  /** In-flight requests get this long from the close on; who waits to be accepted then is, for a while. */
  drainMs: 25_000,
  drainSweepMs: 100,
  lastAcceptsMs: 250,
  /** Of the files, what is for callers and for operators; the rest is for databases and all else. */
  callersShare: 0.75,
  operatorsShare: 0.05,
} as const;

export const overloadBounds = {
  /** In a turn of the event loop, so many requests that wait begin, and none after so long. It accepts one
   * connection in a turn, so at 5 ms a turn 200 a second, however much there is to do. */
  turnRequests: 10,
  turnMs: 4,
  /** Requests that are let in at once, for each connection to the database: enough to keep it busy. With ten
   * connections and 500 pages a second, the last of them is answered within 60 ms. */
  requestsPerDatabaseConnection: 3,
  /** Of the connections, what one partner may take. Those of its requests that wait for that, which are more
   * than its rate lets come at once, and for how long. */
  partnerShare: 0.5,
  requestsOfPartner: 100,
  shareWaitMs: 250,
  /** How long a request waits until it begins, how many do, and how often they are looked at. */
  requestWaitMs: 150,
  requestsWaiting: 1_000,
  waitingSweepMs: 10,
  /** Answers to those turned away that are sent at once. A thousand, each for half a second, cost a tenth of
   * the good answers: who is turned away asks again, and to hear that costs more than to answer. */
  shedPerSecond: 500,
  shedBurst: 100,
  /** The others wait this long at most, and are looked at this often. */
  shedHoldMs: 1_000,
  shedSweepMs: 10,
  /** So long after the last one was turned away, the log says that it is over. */
  sheddingQuietMs: 1_000,
} as const;

export const limiterBounds = {
  /** The spec's rate is per second; the limiter's window is this long. */
  rateWindowMs: 1_000,
  /** The largest rate that can be set: a partner's admissions of a second are kept, 8 bytes each. */
  ratePerSecond: 10_000,
  /** Tracked partners after which the limiter looks for idle ones to forget. */
  limiterSweepPartners: 1_024,
  /** How long Redis may take to decide; after it, this process decides. */
  redisBudgetMs: 20,
  /** How often Redis is tried while it is missed. */
  redisProbeMs: 100,
  /** A connection that owes an answer for this long is made anew. */
  redisSilenceMs: 1_000,
  /** Also how long a start waits for Redis before it serves without. */
  redisConnectMs: 1_000,
  redisDisconnectMs: 20,
  /** Between attempts to connect: so much longer each time, up to the second. */
  redisRetryStepMs: 50,
  redisRetryMs: 500,
  /** A partner's log in Redis is gone by itself this long after the last admission. */
  redisLogLifeMs: 2_000,
  /** The largest number of instances that can be set. */
  instances: 1_000,
  /** How often an instance says that it lives, and after how much silence it does not count any more. */
  heartbeatMs: 1_000,
  instanceStaleMs: 3_000,
  /** After Redis was missed, an instance keeps to its share until what was admitted without Redis is past, on
   * this instance and on one that comes back a second later. As long the others leave to one that decides
   * without Redis its share. */
  rateHoldMs: 2_000,
} as const;

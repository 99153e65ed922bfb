export const limiterBounds = {
  /** Window in which admissions are counted. The specification's rate is per second. */
  rateWindowMs: 1_000,
  /** Highest rate that can be set. A partner's admissions take 8 bytes for each request of the rate. */
  mostRatePerSecond: 10_000,
  /** Partners in memory. If there are more, idle ones are removed. */
  limiterSweepPartners: 1_024,
  /** Time that Redis has for a reply. After it the instance decides by itself. */
  redisBudgetMs: 20,
  /** Time between two heartbeats while Redis is lost. */
  redisProbeMs: 100,
  /** A connection that owes a reply for this long is closed. An outage is logged after this time. */
  redisSilenceMs: 1_000,
  /** Time to connect. `serve` waits this long for Redis when it starts. */
  redisConnectMs: 1_000,
  /** Time for Redis to close its end of a connection. */
  redisDisconnectMs: 20,
  /** Time between the loss of a connection and the next one. */
  redisReconnectMs: 1_000,
  /** How often the map of slots to nodes is read from a Redis Cluster. */
  clusterRefreshMs: 5_000,
  /** Redis deletes a partner's admissions this long after the last one. */
  redisLogLifeMs: 2_000,
  /** Highest number of instances that can be set. */
  mostInstances: 1_000,
  /** Time between two heartbeats while Redis answers. */
  heartbeatMs: 1_000,
  /** Heartbeats after which a Redis that returned counts all instances: they reconnect within two seconds. */
  heartbeatsUntilComplete: 3,
  /** An instance whose last heartbeat is older than this no longer counts. */
  instanceStaleMs: 3_000,
} as const;

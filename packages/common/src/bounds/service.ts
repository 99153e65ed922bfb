import { cursorLifetimeHours, ratePerSecond } from '@partner-network/contract/limits';

export const serveBounds = {
  /** Most workers of a supervisor. */
  mostWorkers: 64,
  /** Milliseconds before a worker that ended is replaced, so that a worker that always fails costs little. */
  workerRestartMs: 500,
  /** Milliseconds that a worker has to send its metrics before it is left out. */
  workerAnswerMs: 500,
  /** Longest drain delay that an operator can set, in seconds. */
  mostDrainDelaySeconds: 3_600,
  /** Time between two warnings that other instances do not share the rate limit, ms. */
  instancesWarningMs: 3_600_000,
} as const;

export const authBounds = {
  /** Milliseconds for which a good key is cached, and the number of keys in the cache. */
  keyCacheMs: 500,
  keyCacheEntries: 10_000,
} as const;

export const limiterBounds = {
  /** Window in which admissions are counted. The specification's rate is per second. */
  rateWindowMs: 1_000,
  /** Highest rate that can be set. A partner's admissions take 8 bytes for each request of the rate. */
  mostRatePerSecond: ratePerSecond.max,
  /** Partners in memory. If there are more, idle ones are removed. */
  sweepPartners: 1_024,
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

const lifetimeMs = cursorLifetimeHours * 3_600_000;

export const cursorsBounds = {
  /** Milliseconds for which a cursor opens. */
  lifetimeMs,
  /** How far ahead the clock of an instance may be that seals a cursor, ms. */
  aheadMs: 300_000,
  /** Milliseconds between two readings of the cursor keys, and until a failed reading is retried. */
  keysReadMs: 500,
  keysRetryMs: 100,
  /** Milliseconds for which a reading is valid. After that, requests that need a cursor are answered 503. */
  keysStaleMs: 5_000,
  /** Milliseconds until a new key seals cursors: by then all instances can open them. */
  keySettleMs: 15_000,
  /** Milliseconds for which a key opens cursors after the next one seals: a cursor's life, and clock skew. */
  keyRestMs: lifetimeMs + 60_000,
  /** Milliseconds for which a rotation waits for another rotation. */
  keyLockMs: 10_000,
  /** Milliseconds after which `doctor` warns that a sealing key is old. */
  keyAgeMs: 400 * 24 * 3_600_000,
} as const;

/** Limits of receipts, key uses and usage. */
export const receiptsBounds = {
  /** Receipts wait this long to be written together, ms. */
  flushMs: 250,
  /** Time before a failed write is retried, ms. */
  retryMs: 100,
  /** Time before a Citus node that could not take receipts is tried again, ms. */
  nodeRestMs: 1_000,
  /** Receipts of one write. A batch of this size takes about a millisecond to build. */
  batch: 1_000,
  /** Receipts kept in memory while the database is unavailable: 20 MB, and 80 MB with the longest ids. */
  waiting: 50_000,
  /** An outage is logged after this time, ms. */
  outageMs: 1_000,
  /** Receipts that are searched to count them by customer: up to 0.5 s among 5 million. */
  counted: 50_000,
  /** How long a shutdown waits for the last receipts, ms. */
  closeMs: 2_000,
  /** Keys whose last use is kept in memory. */
  keyUsesNoted: 10_000,
  /** Time between two writes of usage, ms. Counts are stored at most 10 s late. */
  usageWriteMs: 5_000,
  /** Counts of different hours, keys, operations and codes that are kept in memory. */
  usageCounts: 10_000,
  /** A last use that is further ahead of the clock is wrong: any use replaces it. Clocks differ by less. */
  keyUseAheadSeconds: 60,
  /** Receipts of this age are pruned without confirmation, ms: 30 days. */
  pruneFreelyMs: 30 * 86_400_000,
  /** Receipts that one statement deletes. */
  pruned: 5_000,
  /** Pause between two deletes, so that `serve` can write, ms. */
  pruneRestMs: 50,
} as const;

export const tracingBounds = {
  /** Milliseconds between two batches of spans; a full batch is sent at once. */
  delayMs: 1_000,
  /** Spans in a full batch, which take 0.5 ms to serialize. */
  batch: 256,
  /** Spans in memory, about 8 MB, that wait or are not answered yet; further spans are lost. */
  waiting: 8_192,
  /** Milliseconds that the collector may take for a whole answer. */
  answerMs: 2_000,
  /** Milliseconds for sending the remaining spans when the process ends. */
  closeMs: 2_500,
  /** Milliseconds between two log lines about lost spans. */
  warnMs: 60_000,
} as const;

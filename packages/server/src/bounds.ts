/**
 * Every bound of the service, units last. What a caller can meet is in the contract's limits; what must hold
 * between bounds is in bound-relations.ts.
 */
import { cursorLifetimeHours } from '@partner-network/contract/limits';

export const bounds = {
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
  hostCharacters: 255,
  pathCharacters: 4_096,
  /** A socket on which nothing moves for this long, in the middle of an answer, is given up. */
  stalledSocketMs: 10_000,
  /** After its last bytes a connection is given this long to be read. */
  lingerMs: 1_000,
  /** Requests sent ahead on one connection, and on all of them: up to 20 kB each, so 40 MB. */
  pipelinedRequests: 100,
  requestsAhead: 2_000,
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
  /** Spans are sent this often, and sooner in batches of so many, which take 0.5 ms to write down. */
  tracesDelayMs: 1_000,
  tracesBatch: 256,
  /** What waits for a collector that is away, in 8 MB; more than that is lost. */
  tracesWaiting: 8_192,
  /** How long a collector may take for all of an answer, and how many (of 4 MiB at the most) it may owe. */
  tracesAnswerMs: 2_000,
  tracesUnderWay: 40,
  /** What is left at the end is sent for as long as this. */
  tracesCloseMs: 2_500,
  /** How often operators are told that traces are lost. */
  tracesWarnMs: 60_000,
  workers: 64,
  /** A worker that ended is replaced after this, so that one that cannot live does not keep us busy. */
  workerRestartMs: 500,
  /** A worker that takes longer to tell its metrics is left out of them. */
  workerAnswerMs: 500,
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
  /** How often a process looks by how late it is: 0.2 % of an idle processor; every 20 ms would take 0.9. */
  eventLoopTickMs: 100,
  /** What a 503 asks the caller to wait. */
  retryAfterSeconds: 1,
  /** Blocks the process while it waits, though in WAL mode a reader hardly ever does. */
  sqliteServeBusyMs: 250,
  /** So much of the log is written at a time, which a pipe takes whole, and so much of it waits at most. */
  logPieceBytes: 4_096,
  logWaitingCharacters: 8 * 1_024 * 1_024,
  /** A key counts as good for so long after it was asked for, and so many are remembered. */
  keyKnownMs: 500,
  keysKnown: 10_000,
  /** What is in it is not read from the file again. SQLite's own 2 MB hold some 60 pages of 50 brands. */
  sqliteServeCacheKibibytes: 16 * 1_024,
  /** An operator's command may wait for an import to finish. */
  sqliteCommandBusyMs: 10_000,
  /** A feed tries again by itself, and must hear a signal meanwhile. */
  sqliteFeedBusyMs: 250,
  /** Whatever happens behind it, a request is answered by then; the rest of 2 s is for a busy machine. */
  answerMs: 1_750,
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
  /** In-flight requests get this long from the close on; who waits to be accepted then is, for a while. */
  drainMs: 25_000,
  drainSweepMs: 100,
  lastAcceptsMs: 250,
  /** The longest drain delay that can be set. */
  drainDelaySeconds: 3_600,
  /** How long a key that is being replaced still works, if nothing else is said, and at the most. */
  overlapMs: 24 * 3_600_000,
  longestOverlapMs: 3_650 * 24 * 3_600_000,
  /** How often an instance reads the keys of cursors, and tries again after that was in vain. */
  cursorKeysReadMs: 500,
  cursorKeysRetryMs: 100,
  /** What it has read is good for so long; then it answers 503 where there is a cursor. */
  cursorKeysStaleMs: 5_000,
  /** A new key opens cursors at once and seals them after this: by then no instance is without it. */
  cursorKeySettleMs: 15_000,
  /** How long a key opens cursors after the next one seals: they live a day, and clocks may differ. */
  cursorKeyRestMs: cursorLifetimeHours * 3_600_000 + 60_000,
  /** How long a rotation waits for another one that is under way. */
  cursorKeyLockMs: 10_000,
  /** A key that seals for longer than this is one that was forgotten. */
  cursorKeyAgeMs: 400 * 24 * 3_600_000,
  /** Fewer than this many open files are too few: each caller takes one. */
  openFiles: 4_096,
  /** Of the files, what is for callers and for operators; the rest is for databases and all else. */
  callersShare: 0.75,
  operatorsShare: 0.05,
  /** Further apart than this, clocks disagree on which keys and grants have expired. */
  clockSkewMs: 1_000,
  doctorClockLooks: 3,
  /** How long a question of `doctor` to a database may take there, and with the way to it. */
  doctorStatementMs: 1_000,
  doctorAnswerMs: 1_500,
  /** How often it looks whether a replica has caught up. */
  doctorLagMs: 50,
  doctorRedisMs: 2_000,
  /** It tells of keys that expire within a week, and of so many of them each by itself. */
  expiryWarningMs: 7 * 24 * 3_600_000,
  doctorShownKeys: 20,
  importLineBytes: 1024 * 1024,
  importBatchRecords: 500,
  /** Long records fill a batch sooner: its rows, their text and the batch before it are held at once. */
  importBatchCharacters: 1024 * 1024,
  /** What is given to the thread that writes to the embedded database before it has written it. */
  importAheadCharacters: 512 * 1024,
  /** What goes to Postgres at once: much, since each time it is asked and answered three times. */
  importCopyCharacters: 1024 * 1024,
  importReportedLines: 1_000,
  importShownLines: 20,
  /** Four times as much takes 40 MB more for what is cut out of it, and is no faster. */
  importReadBytes: 64 * 1024,
  /** A line of 1 MiB can have 90,000 unknown fields; nobody reads more than this many faults of it. */
  importFaultsOfLine: 50,
  /** Images that are downloaded at a time, and how long each may take in all. */
  imageDownloads: 8,
  imageDownloadMs: 5_000,
  imageRedirects: 3,
  /** How far into an image its size is looked for, behind profiles and previews. */
  imageHeaderBytes: 512 * 1024,
  /** A name server that is silent for so long is asked once more, for twice as long. */
  imageDnsMs: 1_000,
  imageDnsTries: 2,
  /** Results that may wait for one before them, so that they are told in the order of the brands. */
  imageResultsAhead: 100,
  /** Results that are remembered, for brands that share an image: some 500 bytes each. */
  imageResultsKept: 10_000,
  imageShownFaults: 1_000,
  /** After so long without an answer, a terminal is told what is waited for. */
  silentWaitMs: 1_000,
  /** How often a terminal's progress line is drawn anew. */
  progressMs: 100,
  /** A line of a feed waits this long for others to go with it; the rest of 100 ms is for the commit. */
  followCommitMs: 50,
  /** How long a feed waits for a database that is away or locked, and between attempts. */
  followPatienceMs: 30_000,
  followRetryMs: 500,
  /** How much longer it waits when it is told to end. */
  followStoppedMs: 5_000,
  /** Room for objects that live for a moment, both halves together; V8 would take up to 64 MiB for it. */
  youngSpaceBytes: 16 * 1024 * 1024,
  exportChunkCharacters: 64 * 1024,
  exportBatchRecords: 1_000,
  /** A brand can have a megabyte of metadata. */
  exportBatchBrands: 100,
} as const;

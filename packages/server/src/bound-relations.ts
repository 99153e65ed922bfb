/** Relations between bounds that the code relies on, checked when the process starts. */
import {
  brandsPerSecond,
  cursorLifetimeHours,
  errorsOfAnswer,
  lengths,
} from '@partner-network/contract/limits';
import { bounds } from './bounds.ts';

function assertBound(holds: boolean, what: string): void {
  if (!holds) throw new Error(`bounds.ts: ${what}`);
}

/** Of an answer's time, what is left to a request that waited for its turn as long as it may. */
const leftMs = bounds.answerMs - bounds.requestWaitMs;

assertBound(bounds.headersTimeoutMs <= bounds.requestTimeoutMs, 'headers are a part of the request');
assertBound(bounds.requestHeadBytes > lengths.referenceId * 12 + 1024, 'the longest reference_id must fit');
assertBound(bounds.requestHeadBytes <= 2 * errorsOfAnswer, 'a name and an & for each error');
assertBound(bounds.importLineBytes <= lengths.metadataValue, 'what can be imported can be sent');
assertBound(bounds.requestsOfPartner > brandsPerSecond, 'a second of requests at once can wait');
assertBound(bounds.requestWaitMs < 250, 'who is let in begins within 250 ms');
assertBound(bounds.shedHoldMs < leftMs, 'who is turned away is told in time');
assertBound(bounds.shedHoldMs <= 1_000 * bounds.retryAfterSeconds, 'no longer than a caller would wait');
assertBound(bounds.answerMs < 2_000, 'a caller is answered within 2 s');
assertBound(3 * bounds.imageDnsMs < bounds.imageDownloadMs, 'a slow name server leaves time to download');
assertBound(bounds.imageResultsAhead > bounds.imageDownloads, 'a slow image does not stop the others');
assertBound(bounds.shareWaitMs + bounds.postgresPoolWaitMs < leftMs, 'whoever waits for both is told');
assertBound(bounds.keyKnownMs < 1_000, 'a revocation counts within a second');
assertBound(bounds.sqliteServeBusyMs < leftMs, 'a locked database is told in time');
assertBound(bounds.postgresConnectMs + bounds.replicaAnswerMs < leftMs, 'the primary gets its turn');
assertBound(bounds.postgresLookMs + bounds.postgresSilenceMs < 1_000, 'a fail over is over within 1 s');
assertBound(bounds.doctorStatementMs < bounds.doctorAnswerMs, 'a server ends a statement before we do');
assertBound(bounds.replicaWatchMs * 3 < bounds.replicaLagMs, 'a replica outlives a look that fails');
assertBound(bounds.redisLogLifeMs > bounds.rateWindowMs, 'a log must outlive what counts in it');
assertBound(bounds.rateHoldMs >= 2 * bounds.rateWindowMs, 'a window, and one for the others to come back');
assertBound(bounds.followCommitMs <= 50, 'a line of a feed is committed within 100 ms');
assertBound(bounds.followStoppedMs < bounds.followPatienceMs, 'who is told to end has less patience');
assertBound(bounds.receiptsFlushMs + 5 * bounds.receiptsRetryMs < 1_000, 'a kill loses < 1 s of receipts');
assertBound(bounds.tracesAnswerMs < bounds.tracesCloseMs, 'at the end the last batches get their time');
assertBound(
  bounds.tracesUnderWay * bounds.tracesBatch > bounds.tracesWaiting,
  'at the end all that waits is sent at once',
);
assertBound(2 * bounds.cursorKeysReadMs <= 1_000, 'a key that was discarded opens nothing after a second');
assertBound(2 * bounds.cursorKeysStaleMs < bounds.cursorKeySettleMs, 'all know a key before it seals');
assertBound(
  bounds.cursorKeyRestMs > cursorLifetimeHours * 3_600_000 + bounds.cursorKeysStaleMs,
  'a key opens the last cursor that it sealed until that expires',
);
assertBound(bounds.instanceStaleMs > 2 * bounds.heartbeatMs, 'one lost heartbeat is no dead instance');

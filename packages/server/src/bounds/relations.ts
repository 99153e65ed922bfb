/** Relations between bounds that the code relies on, checked when the process starts. */
import {
  brandsPerSecond,
  cursorLifetimeHours,
  errorsOfAnswer,
  lengths,
} from '@partner-network/contract/limits';
import { authBounds } from './auth.ts';
import { cursorsBounds } from './cursors.ts';
import { doctorBounds } from './doctor.ts';
import { httpBounds } from './http.ts';
import { imagesBounds } from './images.ts';
import { ingestBounds } from './ingest.ts';
import { limiterBounds } from './limiter.ts';
import { overloadBounds } from './overload.ts';
import { postgresBounds } from './postgres.ts';
import { receiptsBounds } from './receipts.ts';
import { storeBounds } from './store.ts';
import { tracingBounds } from './tracing.ts';

function assertBound(holds: boolean, what: string): void {
  if (!holds) throw new Error(`bounds.ts: ${what}`);
}

/** Of an answer's time, what is left to a request that waited for its turn as long as it may. */
const leftMs = httpBounds.answerMs - overloadBounds.requestWaitMs;

assertBound(httpBounds.headersTimeoutMs <= httpBounds.requestTimeoutMs, 'headers are a part of the request');
assertBound(
  httpBounds.requestHeadBytes > lengths.referenceId * 12 + 1024,
  'the longest reference_id must fit',
);
assertBound(httpBounds.requestHeadBytes <= 2 * errorsOfAnswer, 'a name and an & for each error');
assertBound(ingestBounds.importLineBytes <= lengths.metadataValue, 'what can be imported can be sent');
assertBound(overloadBounds.partnerQueue > brandsPerSecond, 'a second of requests at once can wait');
assertBound(overloadBounds.requestWaitMs < 250, 'who is let in begins within 250 ms');
assertBound(overloadBounds.shedHoldMs < leftMs, 'who is turned away is told in time');
assertBound(
  overloadBounds.shedHoldMs <= 1_000 * httpBounds.retryAfterSeconds,
  'no longer than a caller would wait',
);
assertBound(httpBounds.answerMs < 2_000, 'a caller is answered within 2 s');
assertBound(
  3 * imagesBounds.imageDnsMs < imagesBounds.imageDownloadMs,
  'a slow name server leaves time to download',
);
assertBound(
  imagesBounds.imageResultsAhead > imagesBounds.imageDownloads,
  'a slow image does not stop the others',
);
assertBound(
  overloadBounds.shareWaitMs + postgresBounds.postgresPoolWaitMs < leftMs,
  'whoever waits for both is told',
);
assertBound(authBounds.keyCacheMs < 1_000, 'a revocation counts within a second');
assertBound(storeBounds.sqliteServeBusyMs < leftMs, 'a locked database is told in time');
assertBound(
  postgresBounds.postgresConnectMs + postgresBounds.replicaAnswerMs < leftMs,
  'the primary gets its turn',
);
assertBound(
  postgresBounds.postgresLookMs + postgresBounds.postgresSilenceMs < 1_000,
  'a fail over is over within 1 s',
);
assertBound(
  doctorBounds.doctorStatementMs < doctorBounds.doctorAnswerMs,
  'a server ends a statement before we do',
);
assertBound(
  postgresBounds.replicaWatchMs * 3 < postgresBounds.replicaLagMs,
  'a replica outlives a look that fails',
);
assertBound(
  limiterBounds.redisLogLifeMs > limiterBounds.rateWindowMs,
  'a log must outlive what counts in it',
);
assertBound(
  limiterBounds.redisReconnectMs >= limiterBounds.rateWindowMs,
  'a restarted Redis has forgotten its admissions: if it decided within a second, three rates could pass',
);
assertBound(ingestBounds.followCommitMs <= 50, 'a line of a feed is committed within 100 ms');
assertBound(
  ingestBounds.followStoppedMs < ingestBounds.followPatienceMs,
  'who is told to end has less patience',
);
assertBound(
  receiptsBounds.receiptsFlushMs + 5 * receiptsBounds.receiptsRetryMs < 1_000,
  'a kill loses < 1 s of receipts',
);
assertBound(
  tracingBounds.tracesAnswerMs < tracingBounds.tracesCloseMs,
  'the last batches get their full answer time when the process ends',
);
assertBound(
  tracingBounds.tracesUnderWay * tracingBounds.tracesBatch > tracingBounds.tracesWaiting,
  'all waiting spans can be sent at once when the process ends',
);
assertBound(
  2 * cursorsBounds.cursorKeysReadMs <= 1_000,
  'a key that was discarded opens nothing after a second',
);
assertBound(
  2 * cursorsBounds.cursorKeysStaleMs < cursorsBounds.cursorKeySettleMs,
  'all know a key before it seals',
);
assertBound(
  cursorsBounds.cursorKeyRestMs > cursorLifetimeHours * 3_600_000 + cursorsBounds.cursorKeysStaleMs,
  'a key opens the last cursor that it sealed until that expires',
);
assertBound(
  limiterBounds.instanceStaleMs > 2 * limiterBounds.heartbeatMs,
  'one lost heartbeat is no dead instance',
);

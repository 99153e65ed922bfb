/** Relations between bounds that the code relies on, checked when the process starts. */
import { brandsPerSecond, errorsOfAnswer, lengths } from '@partner-network/contract/limits';
import { authBounds as auth } from './auth.ts';
import { cursorsBounds as cursors } from './cursors.ts';
import { doctorBounds as doctor } from './doctor.ts';
import { httpBounds as http } from './http.ts';
import { imagesBounds as images } from './images.ts';
import { ingestBounds as ingest } from './ingest.ts';
import { limiterBounds as limiter } from './limiter.ts';
import { overloadBounds as overload } from './overload.ts';
import { postgresBounds as postgres } from './postgres.ts';
import { receiptsBounds as receipts } from './receipts.ts';
import { storeBounds as store } from './store.ts';
import { tracingBounds as tracing } from './tracing.ts';

function assertBound(holds: boolean, what: string): void {
  if (!holds) throw new Error(`bounds.ts: ${what}`);
}

/** The response time that is left to a request that waited for its turn as long as possible. */
const leftMs = http.answerMs - overload.requestWaitMs;

assertBound(http.answerMs < 2_000, 'a request is answered within 2 s');
assertBound(http.headersTimeoutMs <= http.requestTimeoutMs, 'headers are a part of the request');
assertBound(http.requestHeadBytes > lengths.referenceId * 12 + 1024, 'the longest reference_id fits');
assertBound(http.requestHeadBytes <= 2 * errorsOfAnswer, 'each error takes a name and an & of the query');
assertBound(auth.keyCacheMs < 1_000, 'a revocation counts within a second');

assertBound(overload.partnerQueue > brandsPerSecond, 'the requests of a second can wait at once');
assertBound(overload.requestWaitMs < 250, 'an admitted request begins within 250 ms');
assertBound(overload.shedHoldMs < leftMs, 'a delayed 503 is sent in time');
assertBound(overload.shedHoldMs <= 1_000 * http.retryAfterSeconds, 'a 503 is delayed by Retry-After at most');
assertBound(overload.shareWaitMs + postgres.postgresPoolWaitMs < leftMs, 'both waits end in time');

assertBound(2 * cursors.cursorKeysReadMs <= 1_000, 'a discarded key opens nothing after a second');
assertBound(2 * cursors.cursorKeysStaleMs < cursors.cursorKeySettleMs, 'all instances have a key that seals');
assertBound(
  cursors.cursorKeyRestMs > cursors.cursorLifetimeMs + cursors.cursorKeysStaleMs,
  'a key opens the last cursor that it sealed until that expires',
);

assertBound(store.sqliteServeBusyMs < leftMs, 'a request to a locked database is answered in time');
assertBound(postgres.postgresConnectMs + postgres.replicaAnswerMs < leftMs, 'time is left for the primary');
assertBound(postgres.postgresLookMs + postgres.postgresSilenceMs < 1_000, 'a failover takes less than 1 s');
assertBound(postgres.replicaWatchMs * 3 < postgres.replicaLagMs, 'a replica survives one failed check');
assertBound(doctor.doctorStatementMs < doctor.doctorAnswerMs, 'a server ends a statement before we do');

assertBound(limiter.redisLogLifeMs > limiter.rateWindowMs, 'a log outlives the admissions that count');
assertBound(
  limiter.redisReconnectMs >= limiter.rateWindowMs,
  'a restarted Redis has forgotten its admissions: if it decided within a second, three rates could pass',
);
assertBound(limiter.instanceStaleMs > 2 * limiter.heartbeatMs, 'an instance survives one lost heartbeat');

assertBound(ingest.importLineBytes <= lengths.metadataValue, 'imported metadata can be sent');
assertBound(ingest.followCommitMs <= 50, 'a line of a feed is committed within 100 ms');
assertBound(ingest.followStoppedMs < ingest.followRetryLimitMs, 'a stopped feed retries for a shorter time');
assertBound(receipts.receiptsFlushMs + 5 * receipts.receiptsRetryMs < 1_000, 'a kill loses less than 1 s');
assertBound(images.imageResultsAhead > images.imageDownloads, 'a slow image does not stop the others');
assertBound(3 * images.imageDnsMs < images.imageDownloadMs, 'a slow name server leaves time to download');
assertBound(tracing.tracesAnswerMs < tracing.tracesCloseMs, 'the last batches get their full answer time');
assertBound(
  tracing.tracesUnderWay * tracing.tracesBatch > tracing.tracesWaiting,
  'all waiting spans can be sent at once when the process ends',
);

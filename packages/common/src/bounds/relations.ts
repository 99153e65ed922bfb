/** Relations between bounds that the code relies on, checked when the process starts. */
import { brandsPerSecond, lengths, maxErrors } from '@partner-network/contract/limits';
import { listings } from '@partner-network/contract/operations';
import { commandLineBounds as commandLine } from './common.ts';
import { httpBounds as http, overloadBounds as overload } from './http.ts';
import { doctorBounds as doctor, imagesBounds as images, ingestBounds as ingest } from './operator.ts';
import {
  authBounds as auth,
  cursorsBounds as cursors,
  limiterBounds as limiter,
  receiptsBounds as receipts,
  tracingBounds as tracing,
} from './service.ts';
import { postgresBounds as postgres, storeBounds as store } from './store.ts';

/** The response time that is left to a request that waited for its turn as long as possible. */
const leftMs = http.answerMs - overload.requestWaitMs;

const knownParameters = Math.max(...listings.map(({ parameters }) => Object.keys(parameters).length));

/** Each relation by the promise that depends on it. */
const relations: Readonly<Record<string, boolean>> = {
  'a request is answered within 2 s': http.answerMs < 2_000,
  '`ready` waits for the answer of a slow instance': commandLine.readyAnswerMs > http.answerMs,
  'headers are a part of the request': http.headersTimeoutMs <= http.requestTimeoutMs,
  'the longest reference_id fits': http.requestHeadBytes > lengths.referenceId * 12 + 1024,
  'the errors of all known parameters fit into a response': knownParameters <= maxErrors,
  'a query with unread parameters is refused for those that were read':
    knownParameters < http.queryParameters,
  'a revocation counts within a second': auth.keyCacheMs < 1_000,

  'the requests of a second can wait at once': overload.partnerQueue > brandsPerSecond,
  'an admitted request begins within 250 ms': overload.requestWaitMs < 250,
  'a delayed 503 is sent in time': overload.shedHoldMs < leftMs,
  'a 503 is delayed by Retry-After at most': overload.shedHoldMs <= 1_000 * http.retryAfterSeconds,
  'both waits end in time': overload.shareWaitMs + postgres.poolWaitMs < leftMs,

  'a discarded key opens nothing after a second': 2 * cursors.keysReadMs <= 1_000,
  'all instances have a key that seals': 2 * cursors.keysStaleMs < cursors.keySettleMs,
  'a key opens the last cursor that it sealed until that expires':
    cursors.keyRestMs > cursors.lifetimeMs + cursors.keysStaleMs,

  'a request to a locked database is answered in time': store.sqliteServeBusyMs < leftMs,
  'time is left for the primary': postgres.connectMs + postgres.replicaAnswerMs < leftMs,
  'a failover takes less than 1 s': postgres.lookMs + postgres.silenceMs < 1_000,
  'a replica survives one failed check': postgres.replicaWatchMs * 3 < postgres.replicaLagMs,
  'a server ends a statement before we do': doctor.statementMs < doctor.answerMs,

  'Redis keeps admissions for as long as they count': limiter.redisLogLifeMs > limiter.rateWindowMs,
  'a restarted Redis has forgotten its admissions: if it decided within a second, three rates could pass':
    limiter.redisReconnectMs >= limiter.rateWindowMs,
  'all instances have reconnected when their number may fall':
    limiter.heartbeatsUntilComplete * limiter.heartbeatMs > limiter.redisReconnectMs + limiter.heartbeatMs,
  'an instance survives one lost heartbeat': limiter.instanceStaleMs > 2 * limiter.heartbeatMs,

  'a metadata value of an imported line is not longer than the contract allows':
    ingest.importLineBytes <= lengths.metadataValue,
  'a feed has half of the 100 ms for the commit itself': ingest.followCommitMs <= 50,
  'an attempt of a feed can open a connection and learn of a lock':
    ingest.followAnswerMs > postgres.commandConnectMs + postgres.feedLockMs,
  'a kill loses less than a second of receipts': receipts.flushMs + 5 * receipts.retryMs < 1_000,
  'a slow image does not stop the others': images.resultsAhead > images.downloads,
  'a slow name server leaves time to download': 3 * images.dnsMs < images.downloadMs,
  'the last batches get their full answer time': tracing.answerMs < tracing.closeMs,
};

for (const [promise, holds] of Object.entries(relations)) {
  if (!holds) throw new Error(`bounds/relations.ts: this does not hold: ${promise}`);
}

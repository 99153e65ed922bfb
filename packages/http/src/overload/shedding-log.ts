import { overloadBounds } from '@partner-network/common/bounds/overload';
import type { Logger } from 'pino';

/** Logs the beginning and the end of shedding: a line for each shed request would cost as much as its 503. */
export function createSheddingLog(nowMs: () => number, log: Logger): (reason: string) => void {
  let count = 0;
  let startedMs = 0;
  let latestMs = 0;

  function watchForEnd(): void {
    setTimeout(() => {
      if (nowMs() - latestMs < overloadBounds.sheddingQuietMs) return watchForEnd();
      log.info({ requests: count, duration_ms: Math.round(latestMs - startedMs) }, 'shedding is over');
      count = 0;
    }, overloadBounds.sheddingQuietMs).unref();
  }

  return (reason) => {
    latestMs = nowMs();
    count += 1;
    if (count > 1) return;
    startedMs = latestMs;
    log.warn({ reason }, 'shedding: more requests arrive than can be answered in time');
    watchForEnd();
  };
}

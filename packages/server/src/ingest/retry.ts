import { setTimeout as wait } from 'node:timers/promises';
import { ingestBounds } from '../bounds/ingest.ts';
import { OperatorError } from '../lib/operator-error.ts';
import { StoreLocked, StoreUnavailable } from '../store/port.ts';

export interface RetryOptions {
  /** Aborted when the feed must end: retries then end after `stoppedMs`. */
  readonly stop: AbortController;
  /** Called when an outage starts. The time is undefined if another command only locks the database. */
  waiting(reason: string, forMs: number | undefined): void;
  /** Called when the outage is over. */
  answering(): void;
  readonly limitMs?: number;
  readonly stoppedMs?: number;
}

/** Runs work on the database again until it succeeds or the time is up. */
export type Retry = <Result>(work: () => Promise<Result>) => Promise<Result>;

/**
 * Retries for a feed, which cannot be sent again. Work that runs at the same time shares one outage, which is
 * reported once:
 *
 *     answering --any work fails--> waiting --any work succeeds--> answering
 *                                   waiting --time is up--> the work's last error is thrown
 */
export function createRetry(options: RetryOptions): Retry {
  const { stop, waiting, answering } = options;
  const { limitMs = ingestBounds.followRetryLimitMs, stoppedMs = ingestBounds.followStoppedMs } = options;
  let stoppedAt = 0;
  let isWaiting = false;
  stop.signal.addEventListener('abort', () => {
    stoppedAt = Date.now();
  });

  function timeLeft(): number {
    if (!stop.signal.aborted) return limitMs;
    // Leaves time for one attempt.
    return Math.min(limitMs, Math.max(stoppedAt + stoppedMs - Date.now(), ingestBounds.followRetryMs));
  }

  return async (work) => {
    const timeUp = new AbortController();
    const forMs = timeLeft();
    const timer = setTimeout(() => timeUp.abort(), forMs);
    const timers = [timer];
    const shorten = () => timers.push(setTimeout(() => timeUp.abort(), timeLeft()));
    stop.signal.addEventListener('abort', shorten);
    // A frozen server does not answer at all, not even with an error.
    const { promise: silence, reject } = Promise.withResolvers<never>();
    timeUp.signal.addEventListener('abort', () =>
      reject(new StoreUnavailable('The database does not answer, or another import locks it.')),
    );
    try {
      for (;;) {
        try {
          const result = await Promise.race([work(), silence]);
          if (isWaiting) answering();
          isWaiting = false;
          return result;
        } catch (error) {
          if (!isOutage(error) || timeUp.signal.aborted) throw error;
          const isLocked = error instanceof StoreLocked;
          // Another import ends at some time. Until then a feed waits, unless it is stopped.
          if (isLocked && !stop.signal.aborted) timer.refresh();
          if (!isWaiting) waiting(error.message, isLocked ? undefined : forMs);
          isWaiting = true;
          await wait(ingestBounds.followRetryMs, undefined, { signal: timeUp.signal }).catch(() => {
            throw error;
          });
        }
      }
    } finally {
      stop.signal.removeEventListener('abort', shorten);
      for (const timer of timers) clearTimeout(timer);
    }
  };
}

/** Whether a retry can help. An unreachable server is an OperatorError when a run begins. */
export function isOutage(error: unknown): error is Error {
  return error instanceof StoreUnavailable || error instanceof OperatorError;
}

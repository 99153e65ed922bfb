import { setTimeout as wait } from 'node:timers/promises';
import { ingestBounds } from '../bounds/ingest.ts';
import { OperatorError } from '../lib/operator-error.ts';
import { StoreUnavailable } from '../store/port.ts';

export interface RetryOptions {
  /** Aborted when the feed must end: retries then end after `stoppedMs`. */
  readonly stop: AbortController;
  /** Called when an outage starts. */
  waiting(reason: string, forMs: number): void;
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
 *     answering --first work fails--> waiting --last failed work succeeds--> answering
 *                                     waiting --time is up--> the work's last error is thrown
 */
export function createRetry(options: RetryOptions): Retry {
  const { stop, waiting, answering } = options;
  const { limitMs = ingestBounds.followRetryLimitMs, stoppedMs = ingestBounds.followStoppedMs } = options;
  let stoppedAt = 0;
  let failing = 0;
  stop.signal.addEventListener('abort', () => {
    stoppedAt = Date.now();
  });

  function timeLeft(): number {
    if (!stop.signal.aborted) return limitMs;
    // Leaves time for one attempt.
    const leftMs = Math.max(stoppedAt + stoppedMs - Date.now(), ingestBounds.followRetryMs);
    return Math.min(leftMs, limitMs);
  }

  return async (work) => {
    const timeUp = new AbortController();
    const forMs = timeLeft();
    const timers = [setTimeout(() => timeUp.abort(), forMs)];
    const shorten = () => timers.push(setTimeout(() => timeUp.abort(), timeLeft()));
    stop.signal.addEventListener('abort', shorten);
    let isFailing = false;
    const reportFailure = ({ message }: Error) => {
      if (isFailing) return;
      isFailing = true;
      failing += 1;
      if (failing === 1) waiting(message, forMs);
    };
    try {
      const result = await repeat(work, timeUp.signal, reportFailure);
      if (isFailing && failing === 1) answering();
      return result;
    } finally {
      if (isFailing) failing -= 1;
      stop.signal.removeEventListener('abort', shorten);
      for (const timer of timers) clearTimeout(timer);
    }
  };
}

async function repeat<Result>(
  work: () => Promise<Result>,
  timeUp: AbortSignal,
  reportFailure: (error: Error) => void,
): Promise<Result> {
  // A frozen server does not answer at all, not even with an error.
  const { promise: silence, reject } = Promise.withResolvers<never>();
  silence.catch(() => {});
  timeUp.addEventListener('abort', () => reject(new StoreUnavailable('The database does not answer.')));
  for (;;) {
    try {
      return await Promise.race([work(), silence]);
    } catch (error) {
      if (!isOutage(error) || timeUp.aborted) throw error;
      reportFailure(error);
      const isTimeLeft = await wait(ingestBounds.followRetryMs, true, { signal: timeUp }).catch(() => false);
      if (!isTimeLeft) throw error;
    }
  }
}

/** Whether a retry can help. An unreachable server is an OperatorError when a run begins. */
export function isOutage(error: unknown): error is Error {
  return error instanceof StoreUnavailable || error instanceof OperatorError;
}

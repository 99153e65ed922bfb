import { ingestBounds } from '@partner-network/common/bounds/operator';
import { OperatorError } from '@partner-network/common/errors';
import { inWords } from '@partner-network/common/times';
import { StoreLocked, StoreUnavailable } from '@partner-network/store/port';

export interface RetryOptions {
  /** Aborted when the feed must end: retries then end after `stoppedMs`. */
  readonly stop: AbortController;
  /** Called with a sentence when an outage starts, at long intervals while it lasts, and when it ends. */
  report(sentence: string): void;
  /** What continues after an outage; "The import" if absent. */
  readonly what?: string;
  readonly answerMs?: number;
  readonly stoppedMs?: number;
}

/** Work on the database. It must let go of its connection when the signal says that it is abandoned. */
type Work<Result> = (abandoned: AbortSignal) => Promise<Result>;

/** Runs work on the database again until it succeeds or the feed is stopped. */
export type Retry = <Result>(work: Work<Result>) => Promise<Result>;

/**
 * Retries for a feed, whose lines cannot be read again. Work that runs at the same time shares one outage:
 *
 *     answering --some work fails--> waiting
 *     waiting --all work that failed succeeds--> answering
 *     waiting --stopped, and the time is up--> the work's last error is thrown
 */
export function createRetry(options: RetryOptions): Retry {
  const { stop, report, what = 'The import' } = options;
  const { answerMs = ingestBounds.followAnswerMs, stoppedMs = ingestBounds.followStoppedMs } = options;
  const waiting = new Set<Work<unknown>>();
  let hasAnswered = false;
  let endsAt = Number.POSITIVE_INFINITY;
  let lostAt = 0;
  let remindAt = 0;

  stop.signal.addEventListener('abort', () => {
    endsAt = performance.now() + stoppedMs;
    if (waiting.size > 0) report(`Stopping. Retrying for up to ${inWords(stoppedMs)}.`);
  });

  /** A frozen server does not answer at all, not even with an error, so an attempt has a time limit. */
  async function attempt<Result>(work: Work<Result>): Promise<Result> {
    const abandoned = new AbortController();
    const { promise: silence, reject } = Promise.withResolvers<never>();
    abandoned.signal.addEventListener('abort', () =>
      reject(new StoreUnavailable('The database does not answer, or another import locks it.')),
    );
    const timers: NodeJS.Timeout[] = [];
    const limit = () => {
      // Even when the feed must end, there is time for one attempt, such as that of the last audit entry.
      const leftMs = Math.max(endsAt - performance.now(), ingestBounds.followRetryMs);
      timers.push(setTimeout(() => abandoned.abort(), Math.min(answerMs, leftMs)));
    };
    limit();
    stop.signal.addEventListener('abort', limit);
    try {
      return await Promise.race([work(abandoned.signal), silence]);
    } finally {
      stop.signal.removeEventListener('abort', limit);
      for (const timer of timers) clearTimeout(timer);
    }
  }

  function wait(work: Work<unknown>, error: Error): void {
    const now = performance.now();
    const isFirst = waiting.size === 0;
    waiting.add(work);
    if (isFirst) lostAt = now;
    else if (now < remindAt) return;
    remindAt = now + ingestBounds.followRemindMs;
    const soFar = isFirst ? '' : ` This has lasted for ${inWords(now - lostAt)}.`;
    const free = error instanceof StoreLocked ? 'it is free' : 'the database returns';
    const limit = stop.signal.aborted ? `for up to ${inWords(stoppedMs)}` : `until ${free}`;
    report(`${error.message}${soFar} Retrying ${limit}.`);
  }

  return async (work) => {
    for (;;) {
      try {
        const result = await attempt(work);
        hasAnswered = true;
        if (waiting.delete(work) && waiting.size === 0) {
          const lasted = inWords(performance.now() - lostAt);
          report(`The database answers again, after ${lasted}. ${what} continues.`);
        }
        return result;
      } catch (error) {
        // Before the first answer, this is a wrong setting or a missing privilege, and no line was read.
        const isFinal = !isOutage(error) || (error instanceof OperatorError && !hasAnswered);
        if (!isFinal && performance.now() < endsAt) {
          wait(work, error);
          await new Promise((resolve) => setTimeout(resolve, ingestBounds.followRetryMs));
          if (performance.now() < endsAt) continue;
        }
        waiting.delete(work);
        throw error;
      }
    }
  };
}

/** Whether a retry can help. An unreachable server is an OperatorError when a run begins. */
export function isOutage(error: unknown): error is Error {
  return error instanceof StoreUnavailable || error instanceof OperatorError;
}

import { pause } from './abortable.ts';
import { ApiError, ConnectionError, TimeoutError } from './errors.ts';
import { isOfHook } from './hooks.ts';

/** Backoff of a first retry is anything up to this, of each further one up to twice as much. */
const backoffBaseMs = 500;
const backoffCapMs = 8_000;

/** Callers that were told the same moment come back within this time after it, and not all in one instant. */
const spreadMs = 100;

/** Asked to wait longer than this, a call fails at once, and its caller may decide. */
const longestWaitMs = 60_000;

const retriedStatuses = [429, 500, 502, 503, 504];

export async function withRetries<T>(
  maxRetries: number,
  signal: AbortSignal | undefined,
  attemptOnce: (attempt: number) => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await attemptOnce(attempt);
    } catch (error) {
      if (attempt > maxRetries || !isPassing(error)) throw error;
      const askedMs = (error instanceof ApiError && error.retryAfterMs) || 0;
      if (askedMs > longestWaitMs) throw error;
      await pause(askedMs + Math.random() * (askedMs > 0 ? spreadMs : backoffMs(attempt)), signal);
    }
  }
}

function isPassing(error: unknown): boolean {
  if (isOfHook(error)) return false;
  if (error instanceof ApiError) return retriedStatuses.includes(error.status);
  return error instanceof ConnectionError || error instanceof TimeoutError;
}

export function isOverRate(error: unknown): error is ApiError {
  return error instanceof ApiError && error.status === 429;
}

/** How long the listing's other calls wait, too: over the rate they are all. */
export function holdMsOf({ retryAfterMs = 0 }: ApiError): number {
  return retryAfterMs > longestWaitMs ? 0 : retryAfterMs;
}

/**
 * The most to wait where nothing was asked, or no time at all: chance decides how much of it (full jitter),
 * so that callers who failed together do not come back together.
 */
function backoffMs(attempt: number): number {
  return Math.min(backoffCapMs, backoffBaseMs * 2 ** (attempt - 1));
}

/** How long an answer asks to wait: in milliseconds, or in seconds, or until a time of day. */
export function retryAfterMs(headers: Headers): number | undefined {
  const header = (name: string) => headers.get(name) ?? '';
  const rough = header('retry-after');
  const askedMs = wholeMs(header('retry-after-ms'), 1) ?? wholeMs(rough, 1_000);
  if (askedMs !== undefined) return askedMs;
  const timeMs = httpTimeMs(rough);
  // By the clock of whoever wrote it, where it is told: ours may be an hour off.
  return timeMs && Math.max(0, timeMs - (httpTimeMs(header('date')) ?? Date.now()));
}

/** A fraction, or a list that a proxy made of two, is against the rule; yet it is clear what is asked. */
function wholeMs(text: string, unitMs: number): number | undefined {
  return /^\d+(\.\d+)?(,|$)/.test(text) ? Math.ceil(Number.parseFloat(text) * unitMs) : undefined;
}

/** Only of what HTTP writes: `Date.parse` makes a time of almost anything, and a past one of most. */
function httpTimeMs(text: string): number | undefined {
  return (/^[A-Z]\w+, .* GMT$/.test(text) && Date.parse(text)) || undefined;
}

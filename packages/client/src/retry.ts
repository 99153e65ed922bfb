import { pause } from './abortable.ts';
import { ApiError, ConnectionError, TimeoutError } from './errors.ts';

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
  if (error instanceof ApiError) return retriedStatuses.includes(error.status);
  return error instanceof ConnectionError || error instanceof TimeoutError;
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
  const rough = headers.get('retry-after');
  const asked = wholeMs(headers.get('retry-after-ms'), 1) ?? wholeMs(rough, 1_000);
  if (asked !== undefined) return asked;
  // As HTTP writes it. `Date.parse` makes a time of almost anything, and a past one of most.
  const timeMs = /^[A-Z]\w+, .* GMT$/.test(rough ?? '') ? Date.parse(rough!) : Number.NaN;
  return Number.isNaN(timeMs) ? undefined : Math.max(0, timeMs - Date.now());
}

/** A fraction is against the rule, and yet it is clear what it asks for. */
function wholeMs(text: string | null, unitMs: number): number | undefined {
  return /^\d+(\.\d+)?$/.test(text ?? '') ? Math.ceil(Number(text) * unitMs) : undefined;
}

import { pause } from './abortable.ts';
import { ApiError, ConnectionError, TimeoutError } from './errors.ts';

/** Backoff of a first retry is anything up to this, of each further one up to twice as much. */
const backoffBaseMs = 500;
const backoffCapMs = 8_000;

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
      const askedMs = error instanceof ApiError ? (error.retryAfterMs ?? 0) : 0;
      if (askedMs > longestWaitMs) throw error;
      await pause(askedMs + backoffMs(attempt), signal);
    }
  }
}

function isPassing(error: unknown): boolean {
  if (error instanceof ApiError) return retriedStatuses.includes(error.status);
  return error instanceof ConnectionError || error instanceof TimeoutError;
}

/**
 * Full jitter, so that callers who failed together do not come back together. It comes on top of what the
 * service asked to wait, for the same reason: it tells all of them when the next one place comes free.
 */
function backoffMs(attempt: number): number {
  return Math.random() * Math.min(backoffCapMs, backoffBaseMs * 2 ** (attempt - 1));
}

/** How long an answer asks to wait: exactly, or in whole seconds, or until a time of day. */
export function retryAfterMs(headers: Headers): number | undefined {
  const exact = headers.get('retry-after-ms') ?? '';
  if (/^\d+$/.test(exact)) return Number(exact);
  const rough = headers.get('retry-after') ?? '';
  if (/^\d+$/.test(rough)) return Number(rough) * 1_000;
  const time = Date.parse(rough);
  return Number.isNaN(time) ? undefined : Math.max(0, time - Date.now());
}

import { pause } from './abortable.ts';
import { ApiError, ConnectionError, TimeoutError } from './errors.ts';

/** The first retry waits up to this long, each further one up to twice as long. */
const backoffBaseMs = 500;
/** No retry waits less: a retry within milliseconds meets the same fault. */
const backoffMinMs = 100;
const backoffCapMs = 8_000;

/** Added at random to the time that an answer asks to wait, so that clients do not return all at once. */
const spreadMs = 100;

/** If an answer asks for a longer wait, the call fails at once and the caller decides. */
const longestWaitMs = 60_000;

const retriedStatuses = [408, 429, 500, 502, 503, 504];

export async function withRetries<T>(
  maxRetries: number,
  signal: AbortSignal | undefined,
  attemptOnce: (attempt: number) => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await attemptOnce(attempt);
    } catch (error) {
      if (attempt > maxRetries || !isRetryable(error)) throw error;
      const askedMs = (error instanceof ApiError && error.retryAfterMs) || 0;
      if (askedMs > longestWaitMs) throw error;
      const backoffMs = Math.min(backoffCapMs, backoffBaseMs * 2 ** (attempt - 1));
      // At random between the two, so that clients that failed together return apart.
      const minMs = askedMs || backoffMinMs;
      const maxMs = askedMs > 0 ? askedMs + spreadMs : backoffMs;
      await pause(minMs + Math.random() * (maxMs - minMs), signal);
    }
  }
}

function isRetryable(error: unknown): boolean {
  if (error instanceof ApiError) return retriedStatuses.includes(error.status);
  return error instanceof ConnectionError || error instanceof TimeoutError;
}

/** How long a 429 makes all calls of its listing wait: they share the rate. Undefined after other errors. */
export function holdMsOf(error: unknown): number | undefined {
  if (!(error instanceof ApiError) || error.status !== 429) return undefined;
  const { retryAfterMs = 0 } = error;
  return retryAfterMs > longestWaitMs ? 0 : retryAfterMs;
}

/** How long an answer asks to wait: in milliseconds, in seconds, or until a time of day. */
export function retryAfterMs(headers: Headers): number | undefined {
  const header = (name: string) => headers.get(name) ?? '';
  const rough = header('retry-after');
  const askedMs = wholeMs(header('retry-after-ms'), 1) ?? wholeMs(rough, 1_000);
  if (askedMs !== undefined) return askedMs;
  const timeMs = httpTimeMs(rough);
  // By the server's clock if it sent one: ours may be an hour off.
  return timeMs && Math.max(0, timeMs - (httpTimeMs(header('date')) ?? Date.now()));
}

/** Also reads a fraction, or two values that a proxy joined, although HTTP does not allow them. */
function wholeMs(text: string, unitMs: number): number | undefined {
  return /^\d+(\.\d+)?(,|$)/.test(text) ? Math.ceil(Number.parseFloat(text) * unitMs) : undefined;
}

/** Reads only HTTP's own format: `Date.parse` makes a time of almost any text. */
function httpTimeMs(text: string): number | undefined {
  return (/^[A-Z]\w+, .* GMT$/.test(text) && Date.parse(text)) || undefined;
}

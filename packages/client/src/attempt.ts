import { abortable } from './abortable.ts';
import { ApiError, apiError, ConnectionError, TimeoutError } from './errors.ts';
import type { PartnerNetworkOptions } from './options.ts';
import { retryAfterMs } from './retry.ts';
import type { ErrorRecord } from './wire.ts';

/** Where requests go, and by what. */
export interface Line extends Pick<PartnerNetworkOptions, 'onRequest' | 'onResponse'> {
  readonly apiKey: string;
  readonly baseUrl: string;
  readonly fetch: NonNullable<PartnerNetworkOptions['fetch']>;
}

export interface Bounds {
  readonly signal: AbortSignal | undefined;
  readonly timeoutMs: number;
}

export interface Request {
  /** The plural under which the records stand in the answer. */
  readonly name: string;
  readonly url: string;
  readonly attempt: number;
}

export interface Answer {
  readonly items: readonly unknown[];
  /** Empty on the last page. */
  readonly cursor: string;
}

/** Sends a request once and resolves to the page that answers it. */
export function attemptOnce(line: Line, request: Request, bounds: Bounds): Promise<Answer> {
  return abortable(bounds.signal, (done, fail) => {
    const controller = new AbortController();
    const timer = setTimeout(() => {
      fail(new TimeoutError(`No whole answer came from ${line.baseUrl} within ${bounds.timeoutMs} ms.`));
    }, bounds.timeoutMs);
    exchange(line, request, controller.signal).then(done, fail);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  });
}

async function exchange(line: Line, { name, url, attempt }: Request, signal: AbortSignal): Promise<Answer> {
  const { apiKey, baseUrl, fetch } = line;
  const event = { method: 'GET', url: withoutKey(url, apiKey), attempt } as const;
  await line.onRequest?.(event);
  const startedMs = performance.now();
  // A redirect is not followed: it could lead the key to another host.
  const init: RequestInit = {
    headers: { accept: 'application/json', authorization: `Bearer ${apiKey}` },
    redirect: 'manual',
    signal,
  };
  const response = await fetch(url, init).catch((cause) => {
    throw broken(`No answer came from ${baseUrl}`, cause, apiKey);
  });
  const { status, headers } = response;
  const requestId = headers.get('x-request-id') ?? undefined;
  await line.onResponse?.({ ...event, status, requestId, durationMs: performance.now() - startedMs });

  const facts = { status, requestId, retryAfterMs: retryAfterMs(headers) };
  if (response.type === 'opaqueredirect' || (status >= 300 && status < 400)) {
    throw new ApiError(facts, [], 'is a redirect, which is not followed with a key: check baseUrl');
  }
  if (!response.ok) {
    const text = await response.text().catch(() => '');
    throw apiError(facts, errorsIn(withoutKey(text, apiKey)));
  }
  let body: unknown;
  try {
    body = JSON.parse(await response.text());
  } catch (cause) {
    throw broken(`The answer of ${baseUrl} was cut off or is not JSON`, cause, apiKey);
  }
  const { [name]: items, cursor = '' } = Object(body);
  if (Array.isArray(items) && typeof cursor === 'string') return { items, cursor };
  throw new ApiError(facts, [], `without a page of ${name}: check that baseUrl is the service's`);
}

/** The error records in the body of an answer; none where it is not the service's. */
function errorsIn(text: string): ErrorRecord[] {
  try {
    const { errors } = JSON.parse(text);
    return errors.filter((error: ErrorRecord) => typeof error.code === 'string');
  } catch {
    return [];
  }
}

function broken(what: string, cause: unknown, apiKey: string): ConnectionError {
  const told = retold(cause, apiKey);
  return new ConnectionError(`${what}: ${told.code ?? told.message}.`, { cause: told });
}

/**
 * What went wrong, told anew: the error of a `fetch` may hold the request, and so the key. Of a chain the
 * innermost tells most; undici's own says only "fetch failed".
 */
function retold(cause: unknown, apiKey: string): Error & { code?: string } {
  const { message, name, code, stack, cause: inner } = Object(cause);
  if (inner instanceof Error) return retold(inner, apiKey);
  const told: Error & { code?: string } = new Error(withoutKey(String(message ?? cause), apiKey));
  if (typeof name === 'string') told.name = name;
  if (typeof code === 'string') told.code = code;
  if (typeof stack === 'string') told.stack = withoutKey(stack, apiKey);
  return told;
}

function withoutKey(text: string, apiKey: string): string {
  return text.split(apiKey).join('[API key]');
}

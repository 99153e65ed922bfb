import { abortable } from './abortable.ts';
import { type Answer, bodyOf, errorIn, pageIn } from './answer.ts';
import { type AnswerFacts, ApiError, ConnectionError, PartnerNetworkError, TimeoutError } from './errors.ts';
import { tell } from './hooks.ts';
import type { Settings } from './options.ts';
import { retryAfterMs } from './retry.ts';
import { retold, withoutKey } from './secret.ts';

interface Request {
  /** The plural under which the records stand in the answer. */
  readonly name: string;
  readonly url: string;
  readonly attempt: number;
}

interface Bounds {
  readonly signal: AbortSignal | undefined;
  readonly timeoutMs: number;
}

/** Sends a request once and resolves to the page that answers it. */
export function attemptOnce(settings: Settings, request: Request, bounds: Bounds): Promise<Answer> {
  const { signal, timeoutMs } = bounds;
  return abortable(signal, (done, fail) => {
    const controller = new AbortController();
    let refusal: ApiError | undefined;
    const timer = setTimeout(() => {
      const late = `${placeOf(settings)} did not answer in full within ${timeoutMs} ms.`;
      fail(refusal ?? new TimeoutError(late));
    }, timeoutMs);
    exchange(settings, request, controller.signal, (error) => {
      refusal = error;
    }).then(done, fail);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  });
}

async function exchange(
  settings: Settings,
  { name, url, attempt }: Request,
  signal: AbortSignal,
  onRefusal: (error: ApiError) => void,
): Promise<Answer> {
  const { apiKey } = settings;
  const event = { method: 'GET', url: withoutKey(url, apiKey), attempt } as const;
  await tell(settings.onRequest, event);
  // It may have been given up meanwhile, and not every fetch looks at its signal first.
  signal.throwIfAborted();
  const startedMs = performance.now();
  const response = await send(settings, url, signal);
  const { status, headers } = response;
  // Something on the way may have put it into a header, too.
  const requestId = withoutKey(headers.get('x-request-id') ?? '', apiKey) || undefined;
  const durationMs = performance.now() - startedMs;
  await tell(settings.onResponse, { ...event, status, requestId, durationMs });

  const facts = { status, requestId, retryAfterMs: retryAfterMs(headers) };
  if (response.type === 'opaqueredirect' || (status >= 300 && status < 400)) {
    throw new ApiError(facts, [], 'a redirect, which a key is not sent along; check baseUrl.');
  }
  if (!response.ok) {
    // An error's status says enough where the rest of it is lost, or does not come in time.
    onRefusal(errorIn(null, apiKey, facts));
    throw errorIn(await bodyOf(response).catch(() => null), apiKey, facts);
  }
  return pageIn(await jsonOf(settings, response, facts), name, facts);
}

async function jsonOf(settings: Settings, response: Response, facts: AnswerFacts): Promise<unknown> {
  const text = await bodyOf(response).catch((cause) => {
    throw broken(settings, 'broke off its answer', cause);
  });
  if (text === null) throw new ApiError(facts, [], 'the answer is too long to be a page; check baseUrl.');
  try {
    return JSON.parse(text);
  } catch {
    // Without its cause, which repeats a part of the text, and in it perhaps an amount.
    throw new ConnectionError(`${placeOf(settings)} answered with ${facts.status}, but not in whole JSON.`);
  }
}

async function send(settings: Settings, url: string, signal: AbortSignal): Promise<Response> {
  // Looked up late, so that what takes its place, as in tests, is used. Not called as a method: a browser's
  // own would refuse.
  const fetch = settings.fetch ?? globalThis.fetch;
  if (typeof fetch !== 'function')
    throw new PartnerNetworkError('There is no fetch here: pass one as an option.');
  try {
    return await fetch(url, {
      headers: { accept: 'application/json', authorization: `Bearer ${settings.apiKey}` },
      // Not followed: it could lead the key to another host.
      redirect: 'manual',
      signal,
    });
  } catch (cause) {
    throw broken(settings, 'did not answer', cause);
  }
}

function broken(settings: Settings, what: string, error: unknown): ConnectionError {
  const cause = retold(error, settings.apiKey);
  return new ConnectionError(`${placeOf(settings)} ${what}: ${cause.code ?? cause.message}.`, { cause });
}

function placeOf({ baseUrl, apiKey }: Settings): string {
  return withoutKey(baseUrl, apiKey);
}

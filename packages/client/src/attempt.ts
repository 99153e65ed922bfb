import { abortable } from './abortable.ts';
import { type Answer, bodyOf, errorIn, pageIn, safeCause, withoutKey } from './answer.ts';
import { type AnswerFacts, ApiError, ConnectionError, PartnerNetworkError, TimeoutError } from './errors.ts';
import { callHook, type Settings } from './options.ts';
import { retryAfterMs } from './retry.ts';

interface Attempt {
  /** The field that holds the records in the answer. */
  readonly name: string;
  readonly url: string;
  /** 1 for the first attempt. */
  readonly number: number;
  readonly timeoutMs: number;
}

/** Sends a request once and resolves to the page that answers it. */
export function attemptOnce(
  settings: Settings,
  attempt: Attempt,
  signal: AbortSignal | undefined,
): Promise<Answer> {
  return abortable(signal, (done, fail) => {
    const controller = new AbortController();
    let refusal: ApiError | undefined;
    const timer = setTimeout(() => {
      const late = `${addressOf(settings)} did not send a complete response within ${attempt.timeoutMs} ms.`;
      fail(refusal ?? new TimeoutError(late));
    }, attempt.timeoutMs);
    exchange(settings, attempt, controller.signal, (error) => {
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
  { name, url, number }: Attempt,
  signal: AbortSignal,
  onRefusal: (error: ApiError) => void,
): Promise<Answer> {
  const { apiKey } = settings;
  const event = { method: 'GET', url: withoutKey(url, apiKey), attempt: number } as const;
  await callHook(settings.onRequest, event);
  // The call may have been aborted meanwhile, and not every fetch checks its signal first.
  signal.throwIfAborted();
  const startedMs = performance.now();
  const response = await send(settings, url, signal);
  const { status, headers } = response;
  // A proxy may have put the key into a header.
  const requestId = withoutKey(headers.get('x-request-id') ?? '', apiKey) || undefined;
  const durationMs = performance.now() - startedMs;
  await callHook(settings.onResponse, { ...event, status, requestId, durationMs });

  const facts = { status, requestId, retryAfterMs: retryAfterMs(headers) };
  if (response.type === 'opaqueredirect' || (status >= 300 && status < 400)) {
    throw new ApiError(facts, [], 'the client does not follow redirects; check baseUrl.');
  }
  if (!response.ok) {
    // If the body is lost or late, the error has the status alone.
    onRefusal(errorIn(null, apiKey, facts));
    throw errorIn(await bodyOf(response).catch(() => null), apiKey, facts);
  }
  return pageIn(await jsonOf(settings, response, facts), name, facts);
}

async function jsonOf(settings: Settings, response: Response, facts: AnswerFacts): Promise<unknown> {
  const text = await bodyOf(response).catch((cause) => {
    throw connectionError(settings, 'did not complete its response', cause);
  });
  if (text === null) throw new ApiError(facts, [], 'the response is too long to be a page; check baseUrl.');
  try {
    return JSON.parse(text);
  } catch {
    // Without the cause, which quotes the text and so perhaps an amount.
    throw new ConnectionError(
      `${addressOf(settings)} answered with status ${facts.status}, but the body is not complete JSON.`,
    );
  }
}

async function send(settings: Settings, url: string, signal: AbortSignal): Promise<Response> {
  // Read on each call, so that a test can replace the global fetch. Called as a plain function, because a
  // browser's fetch fails when it is called as a method.
  const fetch = settings.fetch ?? globalThis.fetch;
  if (typeof fetch !== 'function')
    throw new PartnerNetworkError('This runtime has no global fetch. Pass one as the option fetch.');
  try {
    return await fetch(url, {
      headers: { accept: 'application/json', authorization: `Bearer ${settings.apiKey}` },
      // A redirect could send the key to another host.
      redirect: 'manual',
      signal,
    });
  } catch (cause) {
    throw connectionError(settings, 'did not answer', cause, ' Check baseUrl, and that the service runs.');
  }
}

function connectionError(settings: Settings, what: string, error: unknown, remedy = ''): ConnectionError {
  const cause = safeCause(error, settings.apiKey);
  const reason = `${addressOf(settings)} ${what}: ${cause.code ?? cause.message}.`;
  return new ConnectionError(reason + remedy, { cause });
}

function addressOf({ baseUrl, apiKey }: Settings): string {
  return withoutKey(baseUrl, apiKey);
}

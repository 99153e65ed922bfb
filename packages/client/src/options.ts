import { PartnerNetworkError } from './errors.ts';

export interface PartnerNetworkOptions {
  /** Your API key: `pn_live_…` or, for the sandbox, `pn_test_…`. */
  readonly apiKey: string;
  /** The address of the service, including `/network/v1`. */
  readonly baseUrl: string;
  /** Timeout of one attempt, including its whole answer, in milliseconds; default 10,000. */
  readonly timeoutMs?: number | undefined;
  /** Retries after the first attempt of a request; default 3. */
  readonly maxRetries?: number | undefined;
  /**
   * Requests per second of each listing; 0 for no limit. Default: 50 for list brands, which is the service's
   * own limit, and no limit for list balances.
   */
  readonly maxRate?: number | undefined;
  /** Used instead of the global `fetch`. It receives the key in a header. */
  readonly fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined;
  /** Called before each attempt. A promise is awaited; if a hook throws, the call rejects with its error. */
  readonly onRequest?: ((request: RequestEvent) => void | Promise<void>) | undefined;
  /** Called when the status and headers of an answer have arrived, whatever the status. */
  readonly onResponse?: ((response: ResponseEvent) => void | Promise<void>) | undefined;
}

/** Options of one call. They apply to every page of it. */
export interface CallOptions extends Pick<PartnerNetworkOptions, 'timeoutMs' | 'maxRetries'> {
  /** Ends the call at once, even while it waits; the call rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

export interface RequestEvent {
  readonly method: 'GET';
  /** Includes the query, and so your customers' ids. */
  readonly url: string;
  /** 1 for the first attempt. */
  readonly attempt: number;
}

export interface ResponseEvent extends RequestEvent {
  readonly status: number;
  readonly requestId: string | undefined;
  /** Time from sending the request until the headers of the answer arrived. */
  readonly durationMs: number;
}

const defaults = { timeoutMs: 10_000, maxRetries: 3 };

/** The longest time of a timer; a longer one fires at once. */
const maxTimerMs = 2 ** 31 - 1;

const optionNames = [
  'apiKey',
  'baseUrl',
  'timeoutMs',
  'maxRetries',
  'maxRate',
  'fetch',
  'onRequest',
  'onResponse',
];
const callOptionNames = ['signal', 'timeoutMs', 'maxRetries'];

export type Settings = ReturnType<typeof checkOptions>;

/** Checks at run time what the types say, for callers in JavaScript. Null counts as absent. */
export function checkOptions(options: PartnerNetworkOptions) {
  const given = options ?? {};
  checkNames(given, optionNames);
  const maxRate = given.maxRate ?? undefined;
  return {
    apiKey: checkKey(given.apiKey),
    baseUrl: checkBaseUrl(given.baseUrl),
    ...checkBounds(given, defaults),
    maxRate: maxRate === undefined ? undefined : checkWhole('maxRate', maxRate, 0, 1_000_000),
    fetch: checkFunction('fetch', given.fetch),
    onRequest: checkFunction('onRequest', given.onRequest),
    onResponse: checkFunction('onResponse', given.onResponse),
  };
}

/** Checks the options of a call; the client's options are the defaults. */
export function checkCall(options: CallOptions | undefined, settings: Settings) {
  const given = options ?? {};
  checkNames(given, callOptionNames);
  const signal = given.signal ?? undefined;
  if (signal !== undefined && typeof signal.aborted !== 'boolean') {
    throw new PartnerNetworkError('signal must be an AbortSignal; that of a controller is its `signal`.');
  }
  return { signal, ...checkBounds(given, settings) };
}

function checkNames(options: object, known: readonly string[]): void {
  // Includes inherited names, to catch a signal that is passed instead of the options.
  for (const name in options) {
    if (known.includes(name)) continue;
    throw new PartnerNetworkError(`There is no option ${name} here; there are ${known.join(', ')}.`);
  }
}

function checkBounds(given: CallOptions, fallback: typeof defaults) {
  return {
    timeoutMs: checkWhole('timeoutMs', given.timeoutMs ?? fallback.timeoutMs, 1, maxTimerMs),
    maxRetries: checkWhole('maxRetries', given.maxRetries ?? fallback.maxRetries, 0, 100),
  };
}

function checkWhole(name: string, value: number, min: number, max: number): number {
  if (Number.isInteger(value) && value >= min && value <= max) return value;
  throw new PartnerNetworkError(`${name} must be a whole number from ${min} to ${max}.`);
}

function checkFunction<T>(name: string, value: T): T {
  if (typeof (value ?? checkFunction) === 'function') return value;
  throw new PartnerNetworkError(`${name} must be a function.`);
}

/** Rejects a key that is not a valid header value, without repeating it. */
function checkKey(apiKey: string): string {
  if (typeof apiKey === 'string' && /^[\x21-\x7e]+$/.test(apiKey)) return apiKey;
  throw new PartnerNetworkError('apiKey must be the whole of an API key, without spaces or line breaks.');
}

/** The address without a trailing slash. The error does not repeat it: it may contain a key. */
function checkBaseUrl(baseUrl: string): string {
  try {
    const url = new URL(baseUrl);
    const isPlain = !/[?#]/.test(baseUrl) && url.username + url.password === '';
    if (/^https?:$/.test(url.protocol) && isPlain) return url.origin + url.pathname.replace(/\/+$/, '');
  } catch {}
  throw new PartnerNetworkError(
    'baseUrl must be an address like https://HOST/network/v1, without user, password, query or fragment.',
  );
}

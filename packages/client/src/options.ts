import { PartnerNetworkError } from './errors.ts';

export interface PartnerNetworkOptions {
  /** Your API key: `pn_live_…` or, for the sandbox, `pn_test_…`. */
  readonly apiKey: string;
  /** The address of the service, with `/network/v1`. */
  readonly baseUrl: string;
  /** How long an attempt may take, with the whole of its answer; 10,000 unless given. */
  readonly timeoutMs?: number | undefined;
  /** How often a request is tried again after its first attempt; 3 unless given. */
  readonly maxRetries?: number | undefined;
  /**
   * Requests a second that each listing keeps to, 0 for no bound. Unless given, 50 for list brands, which is
   * what the service admits, and no bound for list balances.
   */
  readonly maxRate?: number | undefined;
  /** In place of the global `fetch`. It is given the key in a header. */
  readonly fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined;
  /** Called before each attempt. What a hook throws, the call rejects with; a promise is awaited. */
  readonly onRequest?: ((request: RequestEvent) => void | Promise<void>) | undefined;
  /** Called when the head of an answer has come, of whatever status. */
  readonly onResponse?: ((response: ResponseEvent) => void | Promise<void>) | undefined;
}

/** Options of one call; a walk hands them on to each of its requests. */
export interface CallOptions {
  /** Ends the call at once, also while it waits: it rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number | undefined;
  readonly maxRetries?: number | undefined;
}

export interface RequestEvent {
  readonly method: 'GET';
  /** With the query, so with your customers' ids. */
  readonly url: string;
  /** 1 for the first one. */
  readonly attempt: number;
}

export interface ResponseEvent extends RequestEvent {
  readonly status: number;
  readonly requestId: string | undefined;
  /** From before the request was sent until the head of the answer had come. */
  readonly durationMs: number;
}

/** The options once checked, with what was left out. */
export interface Settings extends Pick<PartnerNetworkOptions, 'fetch' | 'onRequest' | 'onResponse'> {
  readonly apiKey: string;
  /** Without a slash at its end. */
  readonly baseUrl: string;
  readonly timeoutMs: number;
  readonly maxRetries: number;
  readonly maxRate: number | undefined;
}

const defaults = { timeoutMs: 10_000, maxRetries: 3 } as const;

/** The longest that a timer can wait; it would fire at once for more. */
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

/** Who writes JavaScript is told what the types would tell. Null counts as left out. */
export function checkOptions(options: PartnerNetworkOptions): Settings {
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

/** The options of a call, with those of the client where it has none. */
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
  // Also those that it inherits: a signal may have been passed in place of the options.
  for (const name in options) {
    if (known.includes(name)) continue;
    throw new PartnerNetworkError(`There is no option ${name} here; there are ${known.join(', ')}.`);
  }
}

function checkBounds(given: CallOptions, otherwise: Pick<Settings, 'timeoutMs' | 'maxRetries'>) {
  return {
    timeoutMs: checkWhole('timeoutMs', given.timeoutMs ?? otherwise.timeoutMs, 1, maxTimerMs),
    maxRetries: checkWhole('maxRetries', given.maxRetries ?? otherwise.maxRetries, 0, 100),
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

/** Says nothing of the key but that it is wrong. What is no header value never gets as far as `fetch`. */
function checkKey(apiKey: string): string {
  if (typeof apiKey === 'string' && /^[\x21-\x7e]+$/.test(apiKey)) return apiKey;
  throw new PartnerNetworkError('apiKey must be the whole of an API key, without spaces or line breaks.');
}

/** The address without a slash at its end. The message does not repeat it: it may be a key, or hold one. */
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

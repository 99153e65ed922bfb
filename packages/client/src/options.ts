import { PartnerNetworkError } from './errors.ts';

/**
 * Options of a client. All are optional where the environment has the key and the base URL.
 *
 * @example Log each attempt, and use half of the rate limit
 * ```ts
 * import { PartnerNetwork } from '@partner-network/client';
 *
 * const observed = new PartnerNetwork({
 *   maxRate: 25,
 *   onResponse: ({ status, attempt }) => console.log(status, attempt),
 * });
 * await observed.brands.list({ limit: 1 });
 * ```
 */
export interface PartnerNetworkOptions {
  /**
   * Your API key: `pn_live_…` for production, `pn_test_…` for the sandbox. Default: the variable
   * PARTNER_NETWORK_API_KEY of the environment, where there is one.
   */
  readonly apiKey?: string | undefined;
  /** The base URL of the service. It ends in `/network/v1`. Default: PARTNER_NETWORK_BASE_URL. */
  readonly baseUrl?: string | undefined;
  /** Timeout of one attempt, including its whole response, in milliseconds. Default: 10,000. */
  readonly timeoutMs?: number | undefined;
  /** Retries after the first attempt of a request, 0 to 100. Default: 3. */
  readonly maxRetries?: number | undefined;
  /**
   * Requests per second of each listing. 0 means no limit. Default: 50 for list brands, which is the limit
   * of the service, and no limit for list balances. All your processes share the service's limit.
   */
  readonly maxRate?: number | undefined;
  /** Used instead of the global `fetch`. It receives the key in a header. */
  readonly fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined;
  /** Called before each attempt. A promise is awaited. If a hook throws, the call rejects with its error. */
  readonly onRequest?: ((request: RequestEvent) => void | Promise<void>) | undefined;
  /** Called when the status and headers of a response have arrived, for any status. */
  readonly onResponse?: ((response: ResponseEvent) => void | Promise<void>) | undefined;
}

/**
 * Options of one call. They apply to every page of it.
 *
 * @example Give up after 30 seconds, including all waits and retries
 * ```ts
 * const signal = AbortSignal.timeout(30_000);
 * const { brands } = await network.brands.list({ limit: 2 }, { signal });
 * console.log(brands.length);
 * ```
 */
export interface CallOptions extends Pick<PartnerNetworkOptions, 'timeoutMs' | 'maxRetries'> {
  /** Aborting it ends the call at once, even while it waits. The call rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** One attempt of a request, as `onRequest` gets it. */
export interface RequestEvent {
  readonly method: 'GET';
  /** The URL with its query, which contains your customers' ids. */
  readonly url: string;
  /** 1 for the first attempt. */
  readonly attempt: number;
}

/** One response, as `onResponse` gets it. */
export interface ResponseEvent extends RequestEvent {
  readonly status: number;
  readonly requestId: string | undefined;
  /** Milliseconds from sending the request until the headers of the response arrived. */
  readonly durationMs: number;
}

const defaults = { timeoutMs: 10_000, maxRetries: 3 };

/** The longest time of a timer; a longer one fires at once. */
const maxTimerMs = 2 ** 31 - 1;

const boundNames = Object.keys(defaults);

export type Settings = ReturnType<typeof checkOptions>;

/** Checks at run time what the types say, for callers in JavaScript. Null counts as absent. */
export function checkOptions(options: PartnerNetworkOptions | undefined) {
  const given = options ?? {};
  checkNames(given, ['apiKey', 'baseUrl', ...boundNames, 'maxRate', 'fetch', 'onRequest', 'onResponse']);
  const maxRate = given.maxRate ?? undefined;
  return {
    apiKey: checkKey(present('apiKey', given.apiKey, 'PARTNER_NETWORK_API_KEY')),
    baseUrl: checkBaseUrl(present('baseUrl', given.baseUrl, 'PARTNER_NETWORK_BASE_URL')),
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
  checkNames(given, ['signal', ...boundNames]);
  const signal = given.signal ?? undefined;
  if (signal !== undefined && typeof signal.aborted !== 'boolean') {
    throw new PartnerNetworkError(
      'signal must be an AbortSignal. For an AbortController, pass its `signal`.',
    );
  }
  return { signal, ...checkBounds(given, settings) };
}

function checkNames(options: object, known: readonly string[]): void {
  // Includes inherited names, to catch a signal that is passed instead of the options.
  for (const name in options) {
    if (known.includes(name)) continue;
    throw new PartnerNetworkError(`Unknown option ${name}. The options are ${known.join(', ')}.`);
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

/** The option, or else the variable. */
function present(name: string, value: string | undefined, variable: string): string {
  const text = value ?? variables()?.[variable] ?? '';
  if (text !== '') return text;
  throw new PartnerNetworkError(`${name} is empty. Pass it, or set the variable ${variable}.`);
}

/**
 * The environment, which a browser does not have. Not `process.env`: a bundler would replace a variable by
 * its value, and so write the key into the program of a page.
 */
function variables(): Readonly<Record<string, string | undefined>> | undefined {
  return (globalThis as { process?: { env?: Readonly<Record<string, string | undefined>> } }).process?.env;
}

/** Rejects a key that is not a valid header value, without repeating it. */
function checkKey(apiKey: string): string {
  if (typeof apiKey === 'string' && /^[\x21-\x7e]+$/.test(apiKey)) return apiKey;
  throw new PartnerNetworkError('apiKey must be a complete API key, without spaces or line breaks.');
}

/** The address without a trailing slash. The error does not repeat it: it may contain a key. */
function checkBaseUrl(baseUrl: string): string {
  try {
    const url = new URL(baseUrl);
    const isPlain = !/[?#]/.test(baseUrl) && url.username + url.password === '';
    if (/^https?:$/.test(url.protocol) && isPlain) return url.origin + url.pathname.replace(/\/+$/, '');
  } catch {}
  throw new PartnerNetworkError(
    'baseUrl must be a URL like https://HOST/network/v1, without user, password, query or fragment.',
  );
}

/** Carries the error of a hook, which may be an error of this package: it is not retried or changed. */
export class HookFailure extends Error {}

export async function callHook<Event>(
  hook: ((event: Event) => void | Promise<void>) | undefined,
  event: Event,
): Promise<void> {
  try {
    await hook?.(event);
  } catch (cause) {
    throw new HookFailure('', { cause });
  }
}

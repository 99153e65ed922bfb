// Written by "npm run docs".
/** Records and parameters of the API. A type test keeps them equal to the service's contract. */
/** A brand: the entity that a customer perceives they are transacting with. */
interface Brand {
    /** Identifier issued by the service, unique among your brands. 1 to 128 characters. */
    readonly id: string;
    /** Name displayed next to payments in the consumer app. 1 to 1024 characters. */
    readonly name: string;
    /** Creation time, RFC 3339, UTC. */
    readonly created_at: string;
    /** Time of last update, RFC 3339, UTC. */
    readonly updated_at: string;
    /**
     * Your own identifier, which links the brand to a record in your system. 1 to 1024 characters, not unique.
     * It is independent of the reference_id of a merchant.
     */
    readonly reference_id: string;
    /** Primary color of the brand and its logo: `#` followed by six hex digits. */
    readonly color?: string;
    /**
     * URL of the image shown next to payments: square, at least 256x256 pixels, under 2 MB, png, jpg or jpeg. A
     * brand without an image has the URL of a placeholder. 8 to 8000 characters.
     */
    readonly profile_image_url?: string;
    /** Free-form pairs of strings: 0 to 50 keys, 32,768 bytes, no personally identifiable information. */
    readonly metadata?: Readonly<Record<string, string>>;
}
/** A balance of a customer. */
interface Balance {
    /** Identifier issued by the service, unique among the balances of its customer. 1 to 256 characters. */
    readonly id: string;
    /** Identifier of the customer that the balance belongs to. 1 to 128 characters. */
    readonly customer_id: string;
    /** Type of the balance. */
    readonly type: 'CHECKING';
    /** ISO 4217 alpha-3 code. */
    readonly currency: 'USD';
    /** Amount in the smallest unit of the currency (cents for USD). It may be negative. */
    readonly amount: number;
    /** Creation time, RFC 3339, UTC. */
    readonly created_at?: string;
    /** Time of last update, RFC 3339, UTC. */
    readonly updated_at?: string;
}
interface PageParams {
    /** Cursor of an earlier page. The list then starts after that page. */
    readonly cursor?: string | undefined;
    /** Maximum number of records per page, 1 to 100. Default: 50. */
    readonly limit?: number | undefined;
}
/** Parameters of list brands. */
interface ListBrandsParams extends PageParams {
    /** Only brands whose reference_id equals this value. */
    readonly reference_id?: string | undefined;
}
/** Parameters of list balances. */
interface ListBalancesParams extends PageParams {
    /** Customer whose balances are listed. */
    readonly customer_id: string;
    /** Type of balances to list. Default: CHECKING, the only one. */
    readonly type?: 'CHECKING' | undefined;
    /** Grant that authorizes the request. Default: any of your active grants for this customer. */
    readonly grant_id?: string | undefined;
}
/** The general kind of an error. Some categories have no code yet. */
type ErrorCategory = 'API_ERROR' | 'AUTHENTICATION_ERROR' | 'BRAND_ERROR' | 'DISPUTE_ERROR' | 'MERCHANT_ERROR' | 'INVALID_REQUEST_ERROR' | 'PAYMENT_PROCESSING_ERROR' | 'RATE_LIMIT_ERROR' | 'WEBHOOK_ERROR' | 'API_KEY_ERROR' | 'GRANT_ERROR';
/** All codes that this version of the client knows. The service may add codes. */
type ErrorCode = 'MISSING_REQUIRED_PARAMETER' | 'VALUE_EMPTY' | 'VALUE_TOO_LONG' | 'INVALID_ENUM_VALUE' | 'EXPECTED_INTEGER' | 'VALUE_TOO_LOW' | 'VALUE_TOO_HIGH' | 'CONFLICTING_PARAMETERS' | 'UNKNOWN_QUERY_PARAMETER' | 'INVALID_CHARACTER' | 'INVALID_CURSOR' | 'MALFORMED_REQUEST' | 'UNAUTHORIZED' | 'API_KEY_REVOKED' | 'API_KEY_EXPIRED' | 'API_KEY_ENVIRONMENT_MISMATCH' | 'PARTNER_DISABLED' | 'INSUFFICIENT_SCOPES' | 'GRANT_NOT_FOUND' | 'GRANT_EXPIRED' | 'GRANT_REVOKED' | 'GRANT_CONSUMED' | 'NOT_FOUND' | 'METHOD_NOT_ALLOWED' | 'REQUEST_TIMEOUT' | 'REQUEST_TOO_LARGE' | 'RATE_LIMITED' | 'INTERNAL_SERVER_ERROR' | 'SERVICE_UNAVAILABLE';
/** One error of a response. A newer service may send codes that are not in `ErrorCode`. */
interface ErrorRecord {
    /** The general kind of the error. */
    readonly category: ErrorCategory;
    /** The specific error. */
    readonly code: ErrorCode | (string & {});
    /** What happened and what to do next. */
    readonly detail?: string;
    /** Parameter that caused the error. */
    readonly field?: string;
}
/** The errors that a call rejects with. */
/** The base class of this package's errors. Thrown by itself for an invalid option or a repeated cursor. */
declare class PartnerNetworkError extends Error {
}
/** No complete response: the connection failed or broke, or the response is not JSON. */
declare class ConnectionError extends PartnerNetworkError {
}
/** No complete response within `timeoutMs`. */
declare class TimeoutError extends PartnerNetworkError {
}
/** What an answer says besides its error records. */
interface AnswerFacts {
    readonly status: number;
    readonly requestId: string | undefined;
    readonly retryAfterMs?: number | undefined;
}
/**
 * A response that is not a page. It has the values of the first error record. `errors` has all records.
 *
 * @example
 * ```ts
 * import { ApiError } from '@partner-network/client';
 *
 * try {
 *   await network.brands.list({ limit: 1000 });
 * } catch (error) {
 *   if (!(error instanceof ApiError)) throw error;
 *   console.log(error.status, error.code, error.field);
 * }
 * ```
 */
declare class ApiError extends PartnerNetworkError {
    /** HTTP status. It is 0 for a redirect in a browser, which hides the status. */
    readonly status: number;
    /** Absent, like `code`, `field` and `detail`, if another server responded, for example a proxy. */
    readonly category: ErrorCategory | undefined;
    /** The specific error. Base decisions on it, not on `detail`. */
    readonly code: ErrorRecord['code'] | undefined;
    /** The parameter that caused the error. */
    readonly field: string | undefined;
    /** What happened and what to do, for a person. Its wording may change. */
    readonly detail: string | undefined;
    /** Identifies the response. Quote it when you ask for help. */
    readonly requestId: string | undefined;
    /** How long the service asks you to wait before the next request, in milliseconds. */
    readonly retryAfterMs: number | undefined;
    /** All error records of the response. */
    readonly errors: readonly ErrorRecord[];
    constructor(facts: AnswerFacts, errors: readonly ErrorRecord[], otherwise: string);
}
/** INVALID_REQUEST_ERROR: the request is invalid; `field` names the parameter. */
declare class InvalidRequestError extends ApiError {
}
/** AUTHENTICATION_ERROR: no valid key, a disabled partner, or a missing scope. */
declare class AuthenticationError extends ApiError {
}
/** API_KEY_ERROR: the key is expired, revoked, or belongs to the other environment. */
declare class ApiKeyError extends ApiError {
}
/** GRANT_ERROR: no active grant lets you read this customer's balances. */
declare class GrantError extends ApiError {
}
/** RATE_LIMIT_ERROR: over the rate limit, after all retries. `retryAfterMs` says how long to wait. */
declare class RateLimitError extends ApiError {
}
/** API_ERROR, or any status of 500 and above: a fault of the service or of a proxy. */
declare class ServerError extends ApiError {
}
declare function apiError(facts: AnswerFacts, errors: readonly ErrorRecord[], otherwise: string): ApiError;
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
interface PartnerNetworkOptions {
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
interface CallOptions extends Pick<PartnerNetworkOptions, 'timeoutMs' | 'maxRetries'> {
    /** Aborting it ends the call at once, even while it waits. The call rejects with the signal's reason. */
    readonly signal?: AbortSignal | undefined;
}
/** One attempt of a request, as `onRequest` gets it. */
interface RequestEvent {
    readonly method: 'GET';
    /** The URL with its query, which contains your customers' ids. */
    readonly url: string;
    /** 1 for the first attempt. */
    readonly attempt: number;
}
/** One response, as `onResponse` gets it. */
interface ResponseEvent extends RequestEvent {
    readonly status: number;
    readonly requestId: string | undefined;
    /** Milliseconds from sending the request until the headers of the response arrived. */
    readonly durationMs: number;
}
type Settings = ReturnType<typeof checkOptions>;
/** Checks at run time what the types say, for callers in JavaScript. Null counts as absent. */
declare function checkOptions(options: PartnerNetworkOptions | undefined): {
    apiKey: string;
    baseUrl: string;
    maxRate: number | undefined;
    fetch: ((url: string, init: RequestInit) => Promise<Response>) | undefined;
    onRequest: ((request: RequestEvent) => void | Promise<void>) | undefined;
    onResponse: ((response: ResponseEvent) => void | Promise<void>) | undefined;
    timeoutMs: number;
    maxRetries: number;
};
/** Checks the options of a call; the client's options are the defaults. */
declare function checkCall(options: CallOptions | undefined, settings: Settings): {
    signal: AbortSignal | undefined;
    timeoutMs: number;
    maxRetries: number;
};
/** Carries the error of a hook, which may be an error of this package: it is not retried or changed. */
declare class HookFailure extends Error {
}
declare function callHook<Event>(hook: ((event: Event) => void | Promise<void>) | undefined, event: Event): Promise<void>;
/** What the pages of all listings have. */
interface PageOf<Page> {
    /** Absent on the last page. */
    readonly cursor?: string;
    /**
     * The next page with the same parameters, or null after the last page. If this page's cursor became
     * invalid, the walk starts again, once, and `next` resolves to the first page with further records.
     */
    next(): Promise<Page | null>;
}
/**
 * A list call. Await it for one page, or iterate over it for every record of every page. It sends no request
 * before that.
 *
 * @example One page, then the next
 * ```ts
 * const first = await network.brands.list({ limit: 2 });
 * const second = await first.next();
 * console.log(second?.brands[0]?.reference_id);
 * ```
 *
 * @example Every page
 * ```ts
 * for await (const { brands } of network.brands.list().pages()) {
 *   console.log(brands.length);
 * }
 * ```
 */
interface PageList<Page, Item> extends Promise<Page>, AsyncIterable<Item> {
    /** Iterates over the pages. */
    pages(): AsyncIterable<Page>;
}
/** Not a real promise: it sends nothing before it is awaited or iterated over, and the first page once. */
declare function createPageList<Page extends PageOf<Page>, Item>(requestFirst: () => Promise<Page>, itemsOf: (page: Page) => readonly Item[]): PageList<Page, Item>;
/** A page of brands. */
interface BrandsPage extends PageOf<BrandsPage> {
    readonly brands: readonly Brand[];
}
/** A page of balances. */
interface BalancesPage extends PageOf<BalancesPage> {
    readonly balances: readonly Balance[];
}
/**
 * A client of the service. Create one and share it: together, its calls keep to the rate limit.
 *
 * The key is not a property of this object, so that printing or copying the object does not reveal it.
 *
 * @example
 * ```ts
 * import { PartnerNetwork } from '@partner-network/client';
 *
 * // Reads PARTNER_NETWORK_API_KEY and PARTNER_NETWORK_BASE_URL.
 * const network = new PartnerNetwork();
 * const { brands } = await network.brands.list({ reference_id: 'shop-17' });
 * console.log(brands[0]?.name);
 * ```
 */
declare class PartnerNetwork {
    readonly brands: {
        /**
         * Lists your brands, sorted by id. The key needs the scope `BRANDS_READ`.
         *
         * @example Every brand of every page
         * ```ts
         * let count = 0;
         * for await (const brand of network.brands.list({ limit: 100 })) {
         *   if (brand.color !== undefined) count += 1;
         * }
         * console.log(count > 0);
         * ```
         */
        list(params?: ListBrandsParams, options?: CallOptions): PageList<BrandsPage, Brand>;
    };
    readonly balances: {
        /**
         * Lists the balances of a customer who gave you a grant, sorted by id. The key needs the scope
         * `BALANCES_READ`. Beta: it may change.
         *
         * @example
         * ```ts
         * const { balances } = await network.balances.list({ customer_id: 'CUSTOMER_1003' });
         * for (const { amount, currency } of balances) console.log(amount, currency);
         * ```
         */
        list(params: ListBalancesParams, options?: CallOptions): PageList<BalancesPage, Balance>;
    };
    /** Throws a `PartnerNetworkError` if an option is missing, invalid or unknown. It sends no request. */
    constructor(options?: PartnerNetworkOptions);
}
export { ApiError, ApiKeyError, AuthenticationError, ConnectionError, GrantError, InvalidRequestError, PartnerNetworkError, RateLimitError, ServerError, TimeoutError, };
export { type BalancesPage, type BrandsPage, PartnerNetwork };
export type { CallOptions, PartnerNetworkOptions, RequestEvent, ResponseEvent };
export type { PageList };
export type { Balance, Brand, ErrorCategory, ErrorCode, ErrorRecord, ListBalancesParams, ListBrandsParams, };

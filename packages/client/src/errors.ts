/** The errors that a call rejects with. */
import type { ErrorCategory, ErrorRecord } from './wire.ts';

/** The base class of this package's errors. Thrown by itself for an invalid option or a repeated cursor. */
export class PartnerNetworkError extends Error {}

/** No complete response: the connection failed or broke, or the response is not JSON. */
export class ConnectionError extends PartnerNetworkError {}

/** No complete response within `timeoutMs`. */
export class TimeoutError extends PartnerNetworkError {}

/** What an answer says besides its error records. */
export interface AnswerFacts {
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
export class ApiError extends PartnerNetworkError {
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

  constructor(facts: AnswerFacts, errors: readonly ErrorRecord[], otherwise: string) {
    const { status, requestId, retryAfterMs } = facts;
    const { category, code, field, detail } = errors[0] ?? ({} as Partial<ErrorRecord>);
    const what =
      code === undefined ? `: ${otherwise}` : ` ${code}${detail === undefined ? '.' : `: ${detail}`}`;
    const message = `${status}${what}${requestId === undefined ? '' : ` (request ${requestId})`}`;
    // A line break or an escape code of another server must not reach a log.
    super(message.replaceAll(/\p{Cc}/gu, '\ufffd'));
    this.status = status;
    this.category = category;
    this.code = code;
    this.field = field;
    this.detail = detail;
    this.requestId = requestId;
    this.retryAfterMs = retryAfterMs;
    this.errors = errors;
  }
}

/** INVALID_REQUEST_ERROR: the request is invalid; `field` names the parameter. */
export class InvalidRequestError extends ApiError {}

/** AUTHENTICATION_ERROR: no valid key, a disabled partner, or a missing scope. */
export class AuthenticationError extends ApiError {}

/** API_KEY_ERROR: the key is expired, revoked, or belongs to the other environment. */
export class ApiKeyError extends ApiError {}

/** GRANT_ERROR: no active grant lets you read this customer's balances. */
export class GrantError extends ApiError {}

/** RATE_LIMIT_ERROR: over the rate limit, after all retries. `retryAfterMs` says how long to wait. */
export class RateLimitError extends ApiError {}

/** API_ERROR, or any status of 500 and above: a fault of the service or of a proxy. */
export class ServerError extends ApiError {}

/**
 * Names on the prototypes. A minifier renames classes, a name set in a constructor is too late for the stack,
 * and a class that refers to itself is renamed to `_ApiError` by some compilers.
 */
const names = {
  PartnerNetworkError,
  ConnectionError,
  TimeoutError,
  ApiError,
  InvalidRequestError,
  AuthenticationError,
  ApiKeyError,
  GrantError,
  RateLimitError,
  ServerError,
};
/** On a prototype: the names of its class and of that class's bases, in every copy of this package. */
const lineage = Symbol.for('@partner-network/client/lineage');
for (const [name, kind] of Object.entries(names)) {
  const { [lineage]: bases = [] } = kind.prototype as { [lineage]?: readonly string[] };
  Object.assign(kind.prototype, { name, [lineage]: [name, ...bases] });
}

/**
 * `instanceof` also knows the errors of another copy: a program that imports and requires this package has
 * two. A class that a program derives has no lineage of its own, and knows its own instances only.
 */
Object.defineProperty(PartnerNetworkError, Symbol.hasInstance, {
  value(this: typeof PartnerNetworkError, error: { readonly [lineage]?: readonly string[] } | undefined) {
    const { prototype } = this;
    const isOwn = Function.prototype[Symbol.hasInstance].call(this, error);
    return isOwn || (Object.hasOwn(prototype, lineage) && !!error?.[lineage]?.includes(prototype.name));
  },
});

const byCategory: ReadonlyMap<string | undefined, typeof ApiError> = new Map([
  ['INVALID_REQUEST_ERROR', InvalidRequestError],
  ['AUTHENTICATION_ERROR', AuthenticationError],
  ['API_KEY_ERROR', ApiKeyError],
  ['GRANT_ERROR', GrantError],
  ['RATE_LIMIT_ERROR', RateLimitError],
  ['API_ERROR', ServerError],
]);

/** For an unknown category, or an answer of another server. */
const byStatus: Readonly<Record<number, typeof ApiError>> = {
  400: InvalidRequestError,
  401: AuthenticationError,
  429: RateLimitError,
};

export function apiError(facts: AnswerFacts, errors: readonly ErrorRecord[], otherwise: string): ApiError {
  const { status } = facts;
  const kind = byCategory.get(errors[0]?.category) ?? byStatus[status] ?? ApiError;
  return new (status >= 500 ? ServerError : kind)(facts, errors, otherwise);
}

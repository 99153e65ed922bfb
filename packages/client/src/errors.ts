/** What a call rejects with. */
import type { ErrorCategory, ErrorRecord } from './wire.ts';

/** All errors of this package. */
export class PartnerNetworkError extends Error {}

/** No whole answer came: no connection, or it broke, or what came is not JSON. */
export class ConnectionError extends PartnerNetworkError {}

/** No whole answer came within `timeoutMs`. */
export class TimeoutError extends PartnerNetworkError {}

/** What an answer told beside its error records. */
export interface AnswerFacts {
  readonly status: number;
  readonly requestId: string | undefined;
  readonly retryAfterMs?: number | undefined;
}

/** The service answered, and not with a page. The first error record's values stand here, all in `errors`. */
export class ApiError extends PartnerNetworkError {
  /** HTTP status; 0 where a browser hides it, which it does of a redirect. */
  readonly status: number;
  /** Absent, as are `code`, `field` and `detail`, when it was not the service that answered. */
  readonly category: ErrorCategory | undefined;
  readonly code: ErrorRecord['code'] | undefined;
  readonly field: string | undefined;
  readonly detail: string | undefined;
  /** Tell it when you ask for help. */
  readonly requestId: string | undefined;
  /** How long the service asked to wait. */
  readonly retryAfterMs: number | undefined;
  readonly errors: readonly ErrorRecord[];

  constructor(facts: AnswerFacts, errors: readonly ErrorRecord[], otherwise: string) {
    const { status, requestId, retryAfterMs } = facts;
    const { category, code, field, detail } = errors[0] ?? ({} as Partial<ErrorRecord>);
    const what =
      code === undefined ? `: ${otherwise}` : ` ${code}${detail === undefined ? '.' : `: ${detail}`}`;
    super(`${status}${what}${requestId === undefined ? '' : ` (request ${requestId})`}`);
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

/** INVALID_REQUEST_ERROR: what was sent is wrong; `field` names the parameter. */
export class InvalidRequestError extends ApiError {}

/** AUTHENTICATION_ERROR: no valid key, a disabled partner, or a scope that the key lacks. */
export class AuthenticationError extends ApiError {}

/** API_KEY_ERROR: the key is expired, revoked or of the other environment. */
export class ApiKeyError extends ApiError {}

/** GRANT_ERROR: no active grant lets you read this customer's balances. */
export class GrantError extends ApiError {}

/** RATE_LIMIT_ERROR: over the rate, after all retries; `retryAfterMs` tells when to ask again. */
export class RateLimitError extends ApiError {}

/** API_ERROR, or any status from 500 on: a fault of the service or on the way to it. */
export class ServerError extends ApiError {}

/**
 * On the prototypes: a minifier renames classes, and a name that is set in a constructor comes too late for
 * the stack. Not within the classes: one that names itself there is called `_ApiError` by who compiles it.
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
for (const [name, kind] of Object.entries(names)) kind.prototype.name = name;

const byCategory: ReadonlyMap<string | undefined, typeof ApiError> = new Map([
  ['INVALID_REQUEST_ERROR', InvalidRequestError],
  ['AUTHENTICATION_ERROR', AuthenticationError],
  ['API_KEY_ERROR', ApiKeyError],
  ['GRANT_ERROR', GrantError],
  ['RATE_LIMIT_ERROR', RateLimitError],
  ['API_ERROR', ServerError],
]);

/** For a category that is not known, or an answer that is not the service's. */
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

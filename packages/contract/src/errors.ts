/** The catalogues of errors. `errorRecord` fills in each `{name}` of a sentence. */
import { adminLimits } from './limits.ts';
import { fillIn } from './sentence.ts';

export const errorCategories = [
  'API_ERROR',
  'AUTHENTICATION_ERROR',
  'BRAND_ERROR',
  'DISPUTE_ERROR',
  'MERCHANT_ERROR',
  'INVALID_REQUEST_ERROR',
  'PAYMENT_PROCESSING_ERROR',
  'RATE_LIMIT_ERROR',
  'WEBHOOK_ERROR',
  'API_KEY_ERROR',
  'GRANT_ERROR',
] as const;

export type ErrorCategory = (typeof errorCategories)[number];

export interface CatalogueEntry {
  readonly status: number;
  readonly category: ErrorCategory;
  readonly when: string;
  readonly detail: string;
}

/** The entries of several codes that have the same status and category. */
function entries<Code extends string>(
  status: number,
  category: ErrorCategory,
  codes: Readonly<Record<Code, Pick<CatalogueEntry, 'when' | 'detail'>>>,
) {
  const list = Object.entries<object>(codes).map(([code, texts]) => [code, { status, category, ...texts }]);
  return Object.fromEntries(list) as Record<Code, CatalogueEntry>;
}

export const errorCatalogue = {
  ...entries(400, 'INVALID_REQUEST_ERROR', {
    MISSING_REQUIRED_PARAMETER: {
      when: 'A required parameter is absent.',
      detail: 'Add the required parameter {field} to the query.',
    },
    VALUE_EMPTY: {
      when: 'A parameter is present but empty. An empty cursor is also an error.',
      detail: '{field} is empty: {remedy}.',
    },
    VALUE_TOO_LONG: {
      when: 'A value is longer than its field allows. Lengths are counted in Unicode code points.',
      detail: 'Shorten {field} to at most {max} characters.',
    },
    INVALID_ENUM_VALUE: {
      when: 'The value is not one of the allowed values. Case matters.',
      detail: 'Set {field} to exactly {allowed}.',
    },
    EXPECTED_INTEGER: {
      when: 'The size of a page, limit, is not a plain decimal integer.',
      detail: 'Set {field} to a whole number from {min} to {max}, written in plain digits.',
    },
    VALUE_TOO_LOW: {
      when: 'The size of a page, limit, is under 1.',
      detail: 'Set {field} to at least {min}.',
    },
    VALUE_TOO_HIGH: {
      when: 'The size of a page, limit, is over 100.',
      detail: 'Set {field} to at most {max}, and use the cursor to get further pages.',
    },
    CONFLICTING_PARAMETERS: {
      when: 'The same parameter is given more than once.',
      detail: 'Send {field} only once.',
    },
    UNKNOWN_QUERY_PARAMETER: {
      when: 'The operation does not have this parameter.',
      detail: 'Remove the unknown parameter {name}{renaming}.',
    },
    INVALID_CHARACTER: {
      when: 'A value contains a control character, invalid percent-encoding or invalid UTF-8. Or the query contains a byte over 0x7F, which must be percent-encoded.',
      detail: 'Send {field} as percent-encoded UTF-8 without control characters.',
    },
    INVALID_CURSOR: {
      when: 'The cursor was not issued for this partner, operation and filters, or it has expired.',
      detail:
        'Start again without a cursor, and send each cursor back unchanged with the same other parameters.',
    },
    MALFORMED_REQUEST: {
      when: 'The request is not valid HTTP.',
      detail: 'Send a valid HTTP/1.1 request with exactly one Host header.',
    },
  }),
  UNAUTHORIZED: {
    status: 401,
    category: 'AUTHENTICATION_ERROR',
    when: 'The credentials are missing, malformed or given more than once, or the API key does not exist.',
    detail: 'Send exactly one header "Authorization: Bearer <key>" with a complete, valid API key.',
  },
  ...entries(401, 'API_KEY_ERROR', {
    API_KEY_REVOKED: {
      when: 'The key was revoked.',
      detail: 'Use another API key, or ask the operator of this service for a new one: this key was revoked.',
    },
    API_KEY_EXPIRED: {
      when: 'The key has expired.',
      detail: 'Use another API key, or ask the operator of this service for a new one: this key has expired.',
    },
    API_KEY_ENVIRONMENT_MISMATCH: {
      when: 'A production key was sent to the sandbox, or a sandbox key to production.',
      detail: 'Use a key that starts with {prefix}: this is the {environment} environment.',
    },
  }),
  ...entries(403, 'AUTHENTICATION_ERROR', {
    PARTNER_DISABLED: {
      when: "The key's partner is disabled.",
      detail:
        'Ask the operator of this service to enable access again: it is disabled for your organization.',
    },
    INSUFFICIENT_SCOPES: {
      when: 'The key does not have the scope that the operation requires.',
      detail: 'Use a key with the scope {scope}.',
    },
  }),
  ...entries(403, 'GRANT_ERROR', {
    GRANT_NOT_FOUND: {
      when: 'The named grant does not exist for this partner and customer. Without grant_id, no active grant exists.',
      detail: 'Send the grant_id of an active grant from this customer, or ask the customer for a new grant.',
    },
    GRANT_EXPIRED: {
      when: 'The named grant has expired.',
      detail: 'Ask the customer for a new grant: this one has expired.',
    },
    GRANT_REVOKED: {
      when: 'The named grant was revoked.',
      detail: 'Ask the customer for a new grant: this one was revoked.',
    },
    GRANT_CONSUMED: {
      when: 'The named grant was already used.',
      detail: 'Ask the customer for a new grant: this one was already used.',
    },
  }),
  NOT_FOUND: {
    status: 404,
    category: 'INVALID_REQUEST_ERROR',
    when: 'The path does not exist. Paths are case-sensitive and have no trailing slash.',
    detail:
      'Correct the path, which must match exactly, for example /network/v1/brands; /docs lists all paths.',
  },
  METHOD_NOT_ALLOWED: {
    status: 405,
    category: 'INVALID_REQUEST_ERROR',
    when: 'The method is not GET, HEAD or OPTIONS.',
    detail: 'Use GET: the API is read-only.',
  },
  REQUEST_TIMEOUT: {
    status: 408,
    category: 'INVALID_REQUEST_ERROR',
    when: 'The request did not arrive in time. The connection is closed.',
    detail: 'Send the complete request again on a new connection.',
  },
  REQUEST_TOO_LARGE: {
    status: 431,
    category: 'INVALID_REQUEST_ERROR',
    when: 'The request line and headers together are larger than 16 KiB, or there are more than 200 headers.',
    detail: 'Shorten the request line and headers to 16 KiB in total, with at most 200 headers.',
  },
  RATE_LIMITED: {
    status: 429,
    category: 'RATE_LIMIT_ERROR',
    when: 'The partner sent more requests in one second than the limit allows.',
    detail:
      'Wait for the time in Retry-After-Ms, then retry: the limit is {rate} requests per second per partner.',
  },
  INTERNAL_SERVER_ERROR: {
    status: 500,
    category: 'API_ERROR',
    when: 'The service failed unexpectedly.',
    detail: 'Retry, and report request {requestId} if the error persists.',
  },
  SERVICE_UNAVAILABLE: {
    status: 503,
    category: 'API_ERROR',
    when: 'The database is unreachable or too slow, or the service is overloaded.',
    detail: 'Retry after the seconds in Retry-After: the service is temporarily unavailable.',
  },
} satisfies Record<string, CatalogueEntry>;

/** The statuses after which a retry of the same request can succeed. */
export const retryableStatuses: readonly number[] = [408, 429, 500, 503];

export type ErrorCode = keyof typeof errorCatalogue;

/** The errors that only the administrative API has. */
export const adminErrorCatalogue = {
  INSUFFICIENT_ROLE: {
    status: 403,
    category: 'AUTHENTICATION_ERROR',
    when: 'The key does not have a role that may send this request.',
    detail: 'Use a key with the role {role}: this key has the role {own}.',
  },
  ...entries(400, 'INVALID_REQUEST_ERROR', {
    INVALID_TIME: {
      when: 'A time is not in the format of RFC 3339, in UTC, or an expiry is not in the future.',
      detail: 'Write {field} in UTC in the format of RFC 3339, for example 2026-01-31T08:00:00.000Z.',
    },
    CONFIRMATION_MISMATCH: {
      when: 'An erasure is not confirmed by the id of its customer.',
      detail:
        'Set confirm to the customer id of the path: this deletes the balances and grants of the customer.',
    },
  }),
  ...entries(409, 'INVALID_REQUEST_ERROR', {
    ID_CONFLICT: {
      when: 'The id belongs to something else, or to a grant that has ended.',
      detail: 'Choose another id: {what}.',
    },
    KEY_NOT_ACTIVE: {
      when: 'A key that is revoked or expired cannot be replaced.',
      detail: 'Create a key with partner_id and scopes: the key to replace is {status}.',
    },
  }),
  ...entries(413, 'INVALID_REQUEST_ERROR', {
    BODY_TOO_LARGE: {
      when: 'The body is too large.',
      detail: `Shorten the body to at most ${adminLimits.bodyBytes / 1024} KiB.`,
    },
    BATCH_TOO_LARGE: {
      when: 'A batch has too many lines or bytes. Bytes are counted after they are unpacked.',
      detail: `Send several batches, each of at most ${adminLimits.batchLines} lines and ${adminLimits.batchBytes / 1024 / 1024} MiB. Nothing was written.`,
    },
  }),
  UNSUPPORTED_MEDIA_TYPE: {
    status: 415,
    category: 'INVALID_REQUEST_ERROR',
    when: 'The body has another type or encoding than the request takes.',
    detail: 'Send the body as {types}.',
  },
} satisfies Record<string, CatalogueEntry>;

/** All errors of both APIs. */
export const everyError = { ...errorCatalogue, ...adminErrorCatalogue };

export type AnyErrorCode = keyof typeof everyError;

/** An error as it is sent, with its fields in order. */
export interface ErrorRecord {
  readonly category: ErrorCategory;
  readonly code: AnyErrorCode;
  readonly detail: string;
  readonly field?: string;
}

export function errorRecord(
  code: AnyErrorCode,
  facts: Readonly<Record<string, string | number>> = {},
  field?: string,
): ErrorRecord {
  const { category, detail } = everyError[code];
  return { category, code, detail: fillIn(detail, { field, ...facts }), ...(field && { field }) };
}

/** The catalogue of errors. `errorRecord` fills in each `{name}` of a sentence. */
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

type ErrorCategory = (typeof errorCategories)[number];

interface CatalogueEntry {
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
      detail: 'Add the {field} parameter to the query; this operation requires it.',
    },
    VALUE_EMPTY: {
      when: 'A parameter is present and empty. An empty cursor too: a loop that sends one back must stop, not restart.',
      detail: '{field} is empty: {remedy}.',
    },
    VALUE_TOO_LONG: {
      when: 'A value is longer than its field allows, in Unicode code points.',
      detail: 'Shorten {field} to at most {max} characters.',
    },
    INVALID_ENUM_VALUE: {
      when: 'The type is not one that exists; case matters.',
      detail: 'Set {field} to {allowed}, in exactly this spelling.',
    },
    EXPECTED_INTEGER: {
      when: 'The limit is not a plain decimal integer.',
      detail: 'Write {field} as a whole number in plain digits, from {min} to {max}.',
    },
    VALUE_TOO_LOW: {
      when: 'The limit is under 1.',
      detail: 'Raise {field} to at least {min}.',
    },
    VALUE_TOO_HIGH: {
      when: 'The limit is over 100.',
      detail: 'Lower {field} to at most {max}, and follow the cursor for the rest.',
    },
    CONFLICTING_PARAMETERS: {
      when: 'The same parameter is given twice.',
      detail: 'Send {field} only once.',
    },
    UNKNOWN_QUERY_PARAMETER: {
      when: 'The operation has no such parameter.',
      detail: 'Remove {name} or rename it to {nearest}: this operation has no such parameter.',
    },
    INVALID_CHARACTER: {
      when: 'A value holds a control character, broken percent-encoding or broken UTF-8.',
      detail: 'Send {field} as percent-encoded UTF-8 without control characters.',
    },
    INVALID_CURSOR: {
      when: 'The cursor was not issued for this partner, endpoint and filters, or it is over 24 hours old.',
      detail:
        'Start again without a cursor, then send back each cursor unchanged, with the same other parameters.',
    },
    MALFORMED_REQUEST: {
      when: 'The request is not HTTP that can be parsed.',
      detail: 'Send well-formed HTTP/1.1 with exactly one Host header.',
    },
  }),
  UNAUTHORIZED: {
    status: 401,
    category: 'AUTHENTICATION_ERROR',
    when: 'There are no credentials, they are malformed or more than one, or the key is unknown.',
    detail: 'Send exactly one header "Authorization: Bearer <key>", with the whole of a valid API key.',
  },
  ...entries(401, 'API_KEY_ERROR', {
    API_KEY_REVOKED: {
      when: 'The key was revoked.',
      detail: 'This API key was revoked; use another key of yours or ask for a new one.',
    },
    API_KEY_EXPIRED: {
      when: 'The key is past its expiry.',
      detail: 'This API key has expired; use another key of yours or ask for a new one.',
    },
    API_KEY_ENVIRONMENT_MISMATCH: {
      when: 'A live key is used in the sandbox, or a test key in production.',
      detail: 'This is the {environment} environment; use a key that begins with {prefix}.',
    },
  }),
  ...entries(403, 'AUTHENTICATION_ERROR', {
    PARTNER_DISABLED: {
      when: "The key's partner is disabled.",
      detail: 'Your access is disabled; contact us to have it enabled again.',
    },
    INSUFFICIENT_SCOPES: {
      when: "The key lacks the operation's scope.",
      detail: 'Use a key that has the scope {scope}.',
    },
  }),
  ...entries(403, 'GRANT_ERROR', {
    GRANT_NOT_FOUND: {
      when: 'No such grant exists for this partner and this customer, or none at all when grant_id is absent.',
      detail:
        'Send the grant_id of an active grant that this customer gave you, or ask the customer for one.',
    },
    GRANT_EXPIRED: {
      when: 'The named grant has expired.',
      detail: 'This grant has expired; ask the customer for a new one.',
    },
    GRANT_REVOKED: {
      when: 'The named grant was revoked.',
      detail: 'This grant was revoked; ask the customer for a new one.',
    },
    GRANT_CONSUMED: {
      when: 'The named grant is used up.',
      detail: 'This grant is used up; ask the customer for a new one.',
    },
  }),
  NOT_FOUND: {
    status: 404,
    category: 'INVALID_REQUEST_ERROR',
    when: 'No such path exists; paths are exact in case and have no trailing slash.',
    detail:
      'Look the path up in /docs: it must match exactly, as /network/v1/brands does, without a trailing slash.',
  },
  METHOD_NOT_ALLOWED: {
    status: 405,
    category: 'INVALID_REQUEST_ERROR',
    when: 'The method is not GET, HEAD or OPTIONS.',
    detail: 'Use GET: everything here is read-only.',
  },
  REQUEST_TIMEOUT: {
    status: 408,
    category: 'INVALID_REQUEST_ERROR',
    when: 'The request did not arrive in time; the connection closes.',
    detail: 'Send the whole request at once, on a new connection.',
  },
  REQUEST_TOO_LARGE: {
    status: 431,
    category: 'INVALID_REQUEST_ERROR',
    when: 'The request line and headers together are over 16 KiB.',
    detail: 'Keep the request line and headers together under 16 KiB.',
  },
  RATE_LIMITED: {
    status: 429,
    category: 'RATE_LIMIT_ERROR',
    when: 'More requests were sent in a second than the limit allows.',
    detail:
      'Wait as long as Retry-After-Ms says, then send the request again; the limit is {rate} requests per second.',
  },
  INTERNAL_SERVER_ERROR: {
    status: 500,
    category: 'API_ERROR',
    when: 'A fault of the service.',
    detail: 'The service failed; if trying again does not help, report request {requestId}.',
  },
  SERVICE_UNAVAILABLE: {
    status: 503,
    category: 'API_ERROR',
    when: 'The service cannot reach its database in time, or sheds load.',
    detail: 'The service is briefly unavailable; try again after the seconds in Retry-After.',
  },
} satisfies Record<string, CatalogueEntry>;

/** The statuses after which a retry of the same request can succeed. */
export const retryableStatuses: readonly number[] = [408, 429, 500, 503];

export type ErrorCode = keyof typeof errorCatalogue;

/** An error as it is sent, with its fields in order. */
export interface ErrorRecord {
  readonly category: ErrorCategory;
  readonly code: ErrorCode;
  readonly detail: string;
  readonly field?: string;
}

export function errorRecord(
  code: ErrorCode,
  facts: Readonly<Record<string, string | number>> = {},
  field?: string,
): ErrorRecord {
  const { category, detail } = errorCatalogue[code];
  return { category, code, detail: fillIn(detail, { ...facts, field }), ...(field && { field }) };
}

/** Records and parameters of the API. A type test keeps them equal to the service's contract. */

export interface Brand {
  /** Unique identifier issued by the service. */
  readonly id: string;
  /** Name displayed next to payments in the consumer app. */
  readonly name: string;
  /** Creation time, RFC 3339, UTC. */
  readonly created_at: string;
  /** Time of last update, RFC 3339, UTC. */
  readonly updated_at: string;
  /** Your own identifier, which links the brand to a record of yours. */
  readonly reference_id: string;
  /** Primary color: `#` followed by six hex digits. */
  readonly color?: string;
  /** URL of the square image shown next to payments; a placeholder for a brand without one. */
  readonly profile_image_url?: string;
  /** Free-form pairs of strings. */
  readonly metadata?: Readonly<Record<string, string>>;
}

export interface Balance {
  /** Unique identifier issued by the service. */
  readonly id: string;
  /** Identifier of the customer that the balance belongs to. */
  readonly customer_id: string;
  readonly type: 'CHECKING';
  /** ISO 4217 alpha-3 code. */
  readonly currency: 'USD';
  /** Amount in the smallest unit of the currency (cents for USD); it may be negative. */
  readonly amount: number;
  /** Creation time, RFC 3339, UTC. */
  readonly created_at?: string;
  /** Time of last update, RFC 3339, UTC. */
  readonly updated_at?: string;
}

interface PageParams {
  /** Cursor of an earlier page; lists the pages after it. */
  readonly cursor?: string | undefined;
  /** Records per page, 1 to 100; default 50. */
  readonly limit?: number | undefined;
}

export interface ListBrandsParams extends PageParams {
  /** Only brands whose reference_id equals this value. */
  readonly reference_id?: string | undefined;
}

export interface ListBalancesParams extends PageParams {
  /** Customer whose balances are listed. */
  readonly customer_id: string;
  /** Type of balances to list. */
  readonly type: 'CHECKING';
  /** Grant that authorizes the request; default: any active grant of yours for this customer. */
  readonly grant_id?: string | undefined;
}

export type ErrorCategory =
  | 'API_ERROR'
  | 'AUTHENTICATION_ERROR'
  | 'BRAND_ERROR'
  | 'DISPUTE_ERROR'
  | 'MERCHANT_ERROR'
  | 'INVALID_REQUEST_ERROR'
  | 'PAYMENT_PROCESSING_ERROR'
  | 'RATE_LIMIT_ERROR'
  | 'WEBHOOK_ERROR'
  | 'API_KEY_ERROR'
  | 'GRANT_ERROR';

/** All codes of this version. */
export type ErrorCode =
  | 'MISSING_REQUIRED_PARAMETER'
  | 'VALUE_EMPTY'
  | 'VALUE_TOO_LONG'
  | 'INVALID_ENUM_VALUE'
  | 'EXPECTED_INTEGER'
  | 'VALUE_TOO_LOW'
  | 'VALUE_TOO_HIGH'
  | 'CONFLICTING_PARAMETERS'
  | 'UNKNOWN_QUERY_PARAMETER'
  | 'INVALID_CHARACTER'
  | 'INVALID_CURSOR'
  | 'MALFORMED_REQUEST'
  | 'UNAUTHORIZED'
  | 'API_KEY_REVOKED'
  | 'API_KEY_EXPIRED'
  | 'API_KEY_ENVIRONMENT_MISMATCH'
  | 'PARTNER_DISABLED'
  | 'INSUFFICIENT_SCOPES'
  | 'GRANT_NOT_FOUND'
  | 'GRANT_EXPIRED'
  | 'GRANT_REVOKED'
  | 'GRANT_CONSUMED'
  | 'NOT_FOUND'
  | 'METHOD_NOT_ALLOWED'
  | 'REQUEST_TIMEOUT'
  | 'REQUEST_TOO_LARGE'
  | 'RATE_LIMITED'
  | 'INTERNAL_SERVER_ERROR'
  | 'SERVICE_UNAVAILABLE';

/** One error of an answer. A newer service may send codes that are not in `ErrorCode`. */
export interface ErrorRecord {
  /** High-level reason. */
  readonly category: ErrorCategory;
  /** Identifier of the specific kind of error. */
  readonly code: ErrorCode | (string & {});
  /** What happened and what to do next. */
  readonly detail?: string;
  /** Parameter that caused the error. */
  readonly field?: string;
}

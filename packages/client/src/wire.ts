/** Records and parameters of the API. A type test keeps them equal to the service's contract. */

/** A brand: the entity that a customer perceives they are transacting with. */
export interface Brand {
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
export interface Balance {
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
export interface ListBrandsParams extends PageParams {
  /** Only brands whose reference_id equals this value. */
  readonly reference_id?: string | undefined;
}

/** Parameters of list balances. */
export interface ListBalancesParams extends PageParams {
  /** Customer whose balances are listed. */
  readonly customer_id: string;
  /** Type of balances to list. Default: CHECKING, the only one. */
  readonly type?: 'CHECKING' | undefined;
  /** Grant that authorizes the request. Default: any of your active grants for this customer. */
  readonly grant_id?: string | undefined;
}

/** The general kind of an error. Some categories have no code yet. */
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

/** All codes that this version of the client knows. The service may add codes. */
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

/** One error of a response. A newer service may send codes that are not in `ErrorCode`. */
export interface ErrorRecord {
  /** The general kind of the error. */
  readonly category: ErrorCategory;
  /** The specific error. */
  readonly code: ErrorCode | (string & {});
  /** What happened and what to do next. */
  readonly detail?: string;
  /** Parameter that caused the error. */
  readonly field?: string;
}

/** The limits that a client can meet. Lengths are in Unicode code points. */

export const pageSize = { default: 50, min: 1, max: 100 } as const;

export const lengths = {
  balanceId: 256,
  brandId: 128,
  customerId: 128,
  grantId: 256,
  keyId: 128,
  partnerId: 128,
  brandName: 1024,
  partnerName: 1024,
  referenceId: 1024,
  cursor: 1024,
  imageUrl: { min: 8, max: 8000 },
  metadataKeys: 50,
  /**
   * UTF-8 bytes of all keys and values of a brand, so that a page of 100 brands has about 5 MB at most.
   * Quotes and backslashes take two bytes in JSON: a page full of them has about 8 MB.
   */
  metadataBytes: 32_768,
  /** Code points of a value in older databases: an import line has at most 1 MiB. */
  metadataValue: 1_048_576,
  errorCode: 64,
  errorDetail: 1024,
} as const;

/** Limits of a brand's image. "Under 2 MB" is read as 2,000,000 bytes, the stricter meaning. */
export const profileImage = { minPixels: 256, belowBytes: 2_000_000 } as const;

/** Integers that JSON and JavaScript both represent exactly. */
export const amount = { min: Number.MIN_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER } as const;

export const brandsPerSecond = 50;

/** The requests per second that can be set for a partner, and as the default of a listing. */
export const ratePerSecond = { min: 1, max: 10_000 } as const;

/** Receipts of refused lists that one key and code leave in a minute, on each instance. */
export const refusalsPerMinute = 60;

/** How long a key that is being replaced still works, in seconds. */
export const overlapSeconds = { default: 86_400, max: 3_650 * 86_400 } as const;

export const cursorLifetimeHours = 24;

/** A name or value of the request is repeated in an error up to this length. */
export const echoedCharacters = 64;

/** The most errors of a response. Further errors are left out. */
export const maxErrors = 20;

/** The limits of the administrative API. */
export const adminLimits = {
  /** Bytes of a JSON body. */
  bodyBytes: 64 * 1024,
  /** Lines and unpacked bytes of a batch. */
  batchLines: 10_000,
  batchBytes: 16 * 1024 * 1024,
  /** Errors that the answer to a batch lists. */
  batchErrors: 1_000,
  /** Seconds until a body must have arrived. */
  bodySeconds: 30,
  /** Characters of a reason, and of the name in `On-Behalf-Of`. */
  reasonCharacters: 256,
} as const;

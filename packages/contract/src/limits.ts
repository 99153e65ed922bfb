/** The bounds that a caller can meet. Lengths are in Unicode code points. */

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
  /** The specification has no bound; no value is longer than the line of 1 MiB that it is imported by. */
  metadataValue: 1_048_576,
  errorCode: 64,
  errorDetail: 1024,
} as const;

/** Of the image behind a brand's profile_image_url. Of the two readings of "under 2 MB" the strict one. */
export const profileImage = { minPixels: 256, belowBytes: 2_000_000 } as const;

/** Integers that JSON and JavaScript both hold exactly. */
export const amount = { min: Number.MIN_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER } as const;

export const brandsPerSecond = 50;

export const cursorLifetimeHours = 24;

/** A name or value that came from a caller is repeated no further than this. */
export const echoedCharacters = 64;

/** A request's line and headers have no room for more parameters, and each has one error at the most. */
export const errorsOfAnswer = 8_192;

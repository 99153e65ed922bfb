export const imagesBounds = {
  /** Images downloaded at the same time. */
  imageDownloads: 8,
  /** Milliseconds for one image, redirects included. */
  imageDownloadMs: 5_000,
  /** Redirects followed for one image. */
  imageRedirects: 3,
  /** Milliseconds until a DNS query is sent again; the second try waits twice as long. */
  imageDnsMs: 1_000,
  /** DNS queries sent per name. */
  imageDnsTries: 2,
  /** Finished reports that may wait for an earlier brand, because reports keep the order of the brands. */
  imageResultsAhead: 100,
  /** Results remembered for brands that share an image: about 500 bytes each. */
  imageResultsCached: 10_000,
  /** Faulty images listed in the table; --json lists all. */
  imageShownFaulty: 1_000,
} as const;

export const imagesBounds = {
  /** Images that are downloaded at a time, and how long each may take in all. */
  imageDownloads: 8,
  imageDownloadMs: 5_000,
  imageRedirects: 3,
  /** How far into an image its size is looked for, behind profiles and previews. */
  imageHeaderBytes: 512 * 1024,
  /** A name server that is silent for so long is asked once more, for twice as long. */
  imageDnsMs: 1_000,
  imageDnsTries: 2,
  /** Results that may wait for one before them, so that they are told in the order of the brands. */
  imageResultsAhead: 100,
  /** Results that are remembered, for brands that share an image: some 500 bytes each. */
  imageResultsKept: 10_000,
  imageShownFaults: 1_000,
} as const;

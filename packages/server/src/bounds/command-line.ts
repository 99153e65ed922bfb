export const commandLineBounds = {
  /** Characters of a host name, at most. */
  hostCharacters: 255,
  /** Characters of a file path, at most. */
  pathCharacters: 4_096,
  /** Milliseconds without an answer after which a terminal shows what the command waits for. */
  silentWaitMs: 1_000,
  /** Milliseconds between two updates of a terminal's progress line. */
  progressMs: 100,
  /** Errors of an answer that are shown, at most: an answer of another server may have any number. */
  shownErrors: 20,
  /** Characters of one shown error, at most. */
  shownErrorCharacters: 500,
} as const;

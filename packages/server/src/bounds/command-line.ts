export const commandLineBounds = {
  hostCharacters: 255,
  pathCharacters: 4_096,
  /** After so long without an answer, a terminal is told what is waited for. */
  silentWaitMs: 1_000,
  /** How often a terminal's progress line is drawn anew. */
  progressMs: 100,
  /** Room for objects that live for a moment, both halves together; V8 would take up to 64 MiB for it. */
  youngSpaceBytes: 16 * 1024 * 1024,
} as const;

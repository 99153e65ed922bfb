/** The verdict on a promise: how much was checked, and what broke it. */
export interface Verdict {
  readonly promise: string;
  /** The number of things checked, and their name. */
  readonly judged: number;
  readonly what: string;
  readonly violations: readonly Violation[];
}

export interface Violation {
  readonly atMs: number;
  readonly text: string;
}

export function verdictOf(
  promise: string,
  what: string,
  judged: number,
  violations: readonly (Violation | undefined)[],
): Verdict {
  return { promise, what, judged, violations: violations.filter((violation) => violation !== undefined) };
}

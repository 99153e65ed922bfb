/** What a promise came to: how much was held against it, and what broke it. */
export interface Verdict {
  readonly promise: string;
  /** Of what there were so many. */
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

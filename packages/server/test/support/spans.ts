/** Something that happened at a moment unknown to us between two that we know. */
export interface Span {
  readonly sentMs: number;
  readonly receivedMs: number;
}

/**
 * The most of them that surely happened within one second: those that were sent and received within it. Any
 * other may have happened outside of it, so that more than the rate here is proof.
 */
export function mostWithinASecond(spans: readonly Span[]): number {
  const counts = spans.map(
    ({ sentMs }) => spans.filter((span) => span.sentMs >= sentMs && span.receivedMs < sentMs + 1_000).length,
  );
  return Math.max(0, ...counts);
}

/** When this process wanted a turn and got none: the machine had other work, so that all parts waited. */

import { now } from '../../packages/testkit/fixtures/clock.ts';
import type { Span } from '../../packages/testkit/fixtures/spans.ts';

const lookMs = 50;
/** A turn that comes so late is a stall. */
const stallMs = 250;

interface Stalls {
  readonly spans: readonly Span[];
  stop(): void;
}

export function watchStalls(): Stalls {
  const spans: Span[] = [];
  let lastMs = now();
  const timer = setInterval(() => {
    const sentMs = lastMs;
    lastMs = now();
    if (lastMs - sentMs >= lookMs + stallMs) spans.push({ sentMs, receivedMs: lastMs });
  }, lookMs);
  return { spans, stop: () => clearInterval(timer) };
}

/** Detects stalls of the machine: times in which this process got no CPU, so that all parts waited. */

import { now } from '../../../packages/testkit/fixtures/clock.ts';
import type { Span } from '../../../packages/testkit/fixtures/spans.ts';

const lookMs = 50;
/** A timer that is this late means a stall. */
const stallMs = 250;

export function watchStalls() {
  const spans: Span[] = [];
  let lastMs = now();
  const timer = setInterval(() => {
    const sentMs = lastMs;
    lastMs = now();
    if (lastMs - sentMs >= lookMs + stallMs) spans.push({ sentMs, receivedMs: lastMs });
  }, lookMs);
  return { spans, stop: () => clearInterval(timer) };
}

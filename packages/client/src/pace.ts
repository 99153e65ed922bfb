import { abortable } from './abortable.ts';

/**
 * The service counts the requests in any span of a second. A hundredth more, for clocks that drift and
 * that browsers round.
 */
const windowMs = 1_010;

/** What becomes of the rate: it grows after a page, is halved after a 429, and stays after anything else. */
type Change = 'grow' | 'stay' | 'halve';

interface Pace {
  /**
   * Resolves when a request may be sent, first come, first served; to be called back when it is over, with
   * the time for which the answer asks everybody to wait.
   */
  take(signal: AbortSignal | undefined): Promise<(change: Change, holdMs?: number) => void>;
}

/**
 * Keeps within so many requests a second, however long each is on its way: the service counted a request
 * at some time before its answer came, so its place comes free a second after the answer, and not before.
 * After a 429, which tells that others use the same rate, it goes on at half of it, and at one more again
 * with each page: so several clients of a partner find their shares.
 */
export function createPace(ratePerSecond: number): Pace {
  /** When the place of each answered request comes free, the oldest first. */
  const freeAtMs: number[] = [];
  const waiting = new Set<() => void>();
  let taken = 0;
  let heldUntilMs = 0;
  let halvedUntilMs = 0;
  let rate = ratePerSecond;
  let timer: ReturnType<typeof setTimeout> | undefined;

  function admit(): void {
    const now = performance.now();
    while (freeAtMs.length > 0 && freeAtMs[0]! <= now) {
      freeAtMs.shift();
      taken -= 1;
    }
    const isHeld = now < heldUntilMs;
    for (const go of waiting) {
      if (isHeld || taken >= rate) break;
      taken += 1;
      waiting.delete(go);
      go();
    }
    // Nobody waits: no timer, which would keep a process from ending.
    clearTimeout(timer);
    const nextMs = isHeld ? heldUntilMs : freeAtMs[0];
    if (waiting.size > 0 && nextMs !== undefined) timer = setTimeout(admit, nextMs - now);
  }

  function release(change: Change, holdMs = 0): void {
    const now = performance.now();
    freeAtMs.push(now + windowMs);
    heldUntilMs = Math.max(heldUntilMs, now + holdMs);
    if (change === 'grow') rate = Math.min(ratePerSecond, rate + 1);
    // Once for all that were refused together.
    if (change === 'halve' && now >= halvedUntilMs) {
      rate = Math.ceil(rate / 2);
      halvedUntilMs = now + Math.max(holdMs, windowMs);
    }
    admit();
  }

  return {
    take: (signal) =>
      abortable(signal, (done) => {
        const go = () => done(release);
        waiting.add(go);
        admit();
        return () => {
          // Given up while waiting: the timer may be for nobody now.
          if (waiting.delete(go)) admit();
        };
      }),
  };
}

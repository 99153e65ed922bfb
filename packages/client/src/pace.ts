import { abortable } from './abortable.ts';

/**
 * The service counts the requests in any span of a second. A hundredth more, for clocks that drift and
 * that browsers round.
 */
const windowMs = 1_010;

/**
 * How much the rate grows in a second in which it is used up. With 1, four clients with 100 calls each took a
 * third longer; with 1 for each page, some of their calls were refused to the last.
 */
const growth = 4;

/** What becomes of the rate: it grows after a page, is halved after a 429, and stays after anything else. */
type Change = 'grow' | 'stay' | 'halve';

interface Pace {
  /**
   * Resolves when a request may be sent, first come, first served, those that are sent again before others;
   * to be called back when it is over, with the time for which the answer asks everybody to wait.
   */
  take(signal: AbortSignal | undefined, isAgain: boolean): Promise<(change: Change, holdMs?: number) => void>;
}

/**
 * Keeps within so many requests a second, however long each is on its way: the service counted a request
 * at some time before its answer came, so its place comes free a second after the answer, and not before.
 * After a 429, which tells that others use the same rate, it goes on at half of it, and at more again with
 * each page: so several clients of a partner find their shares.
 */
export function createPace(ratePerSecond: number): Pace {
  /** When the place of each answered request comes free, the oldest first. */
  const freeAtMs: number[] = [];
  /** What was begun comes to its end before anything else begins, also where all are refused for long. */
  const [again, anew] = [new Set<() => void>(), new Set<() => void>()];
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
    for (const waiting of [again, anew]) {
      for (const go of waiting) {
        if (isHeld || taken >= rate) break;
        taken += 1;
        waiting.delete(go);
        go();
      }
    }
    // Nobody waits: no timer, which would keep a process from ending.
    clearTimeout(timer);
    const nextMs = isHeld ? heldUntilMs : freeAtMs[0];
    if (again.size + anew.size > 0 && nextMs !== undefined) timer = setTimeout(admit, nextMs - now);
  }

  function release(change: Change, holdMs = 0): void {
    const now = performance.now();
    freeAtMs.push(now + windowMs);
    heldUntilMs = Math.max(heldUntilMs, now + holdMs);
    if (change === 'grow') rate = Math.min(ratePerSecond, rate + growth / rate);
    // Once for all that were refused together.
    if (change === 'halve' && now >= halvedUntilMs) {
      rate = Math.ceil(rate / 2);
      halvedUntilMs = now + Math.max(holdMs, windowMs);
    }
    admit();
  }

  return {
    take: (signal, isAgain) =>
      abortable(signal, (done) => {
        const waiting = isAgain ? again : anew;
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

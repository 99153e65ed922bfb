import { abortable } from './abortable.ts';

/**
 * The service counts the requests in any span of a second. A hundredth more, for clocks that drift and
 * that browsers round.
 */
const windowMs = 1_010;

interface Pace {
  /**
   * Resolves when a request may be sent, first come, first served; to be called back when it is answered,
   * with the time for which the answer asks everybody to wait.
   */
  take(signal: AbortSignal | undefined): Promise<(holdMs: number) => void>;
}

/**
 * Keeps within so many requests a second, however long each is on its way: the service counted a request
 * at some time before its answer came, so its place comes free a second after the answer, and not before.
 */
export function createPace(ratePerSecond: number): Pace {
  /** When the place of each answered request comes free, the oldest first. */
  const freeAtMs: number[] = [];
  const waiting = new Set<() => void>();
  let taken = 0;
  let heldUntilMs = 0;
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

  function release(holdMs: number): void {
    const now = performance.now();
    freeAtMs.push(now + windowMs);
    // Others use the same rate: half as much from here on, once for all that were refused together, and
    // with each answer one more again. Of four clients with 100 calls each this brings every call through.
    if (holdMs === 0) rate = Math.min(ratePerSecond, rate + 1);
    else if (now >= heldUntilMs) rate = Math.max(1, rate / 2);
    heldUntilMs = Math.max(heldUntilMs, now + holdMs);
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

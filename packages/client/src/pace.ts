import { abortable } from './abortable.ts';

/**
 * The service counts the requests in any span of a second. A hundredth more, for clocks that drift and
 * that browsers round.
 */
const windowMs = 1_010;

interface Pace {
  /** Resolves when a request may be sent, first come, first served; to be called back when it is answered. */
  take(signal: AbortSignal | undefined): Promise<() => void>;
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
  let timer: ReturnType<typeof setTimeout> | undefined;

  function admit(): void {
    const now = performance.now();
    while (freeAtMs.length > 0 && freeAtMs[0]! <= now) {
      freeAtMs.shift();
      taken -= 1;
    }
    for (const go of waiting) {
      if (taken >= ratePerSecond) break;
      taken += 1;
      waiting.delete(go);
      go();
    }
    // Nobody waits: no timer, which would keep a process from ending.
    clearTimeout(timer);
    if (waiting.size > 0 && freeAtMs.length > 0) timer = setTimeout(admit, freeAtMs[0]! - now);
  }

  function release(): void {
    freeAtMs.push(performance.now() + windowMs);
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

import { abortable } from './abortable.ts';

/** The service counts requests per second; 1 % more allows for clocks that drift or that browsers round. */
const windowMs = 1_010;

/**
 * How much the rate grows per second of full use. With 1, four clients with 100 calls each took a third
 * longer; with 1 per page, some of their calls were refused until the end.
 */
const growth = 4;

/**
 * Limits requests per second, however long each one takes. The service counted a request at some time before
 * its answer arrived, so its slot becomes free one second after the answer. A 429 means that other clients
 * use the same rate: it is halved, and grows again with each page, so that the clients find their shares.
 */
export function createPace(ratePerSecond: number) {
  /** When the slot of each answered request becomes free, oldest first. */
  const freeAtMs: number[] = [];
  /** Retries go first, so that calls finish before others begin even if all are refused for long. */
  const retries = new Set<() => void>();
  const firstAttempts = new Set<() => void>();
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
    for (const waiting of [retries, firstAttempts]) {
      for (const go of waiting) {
        if (isHeld || taken >= rate) break;
        taken += 1;
        waiting.delete(go);
        go();
      }
    }
    // Without waiting calls no timer is set, because it would keep the process alive.
    clearTimeout(timer);
    const nextMs = isHeld ? heldUntilMs : freeAtMs[0];
    if (retries.size + firstAttempts.size > 0 && nextMs !== undefined)
      timer = setTimeout(admit, nextMs - now);
  }

  /** A page lets the rate grow, a 429 halves it. `holdMs` is how long a 429 asks every call to wait. */
  function release(isPage: boolean, holdMs: number | undefined): void {
    const now = performance.now();
    freeAtMs.push(now + windowMs);
    if (isPage) rate = Math.min(ratePerSecond, rate + growth / rate);
    if (holdMs !== undefined) {
      heldUntilMs = Math.max(heldUntilMs, now + holdMs);
      // Once for all calls that were refused together.
      if (now >= halvedUntilMs) {
        rate = Math.ceil(rate / 2);
        halvedUntilMs = now + Math.max(holdMs, windowMs);
      }
    }
    admit();
  }

  /** Resolves when a request may be sent, retries first. Call the returned function when it is over. */
  return function take(signal: AbortSignal | undefined, isRetry: boolean): Promise<typeof release> {
    return abortable(signal, (done) => {
      const waiting = isRetry ? retries : firstAttempts;
      const go = () => done(release);
      waiting.add(go);
      admit();
      return () => {
        // Aborted while waiting: the timer may not be needed any more.
        if (waiting.delete(go)) admit();
      };
    });
  };
}

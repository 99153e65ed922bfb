/** Limits the work and the memory of batches. A request waits for its part, and then gets a 503. */
import { adminBounds } from '@partner-network/common/bounds/serve';
import { within } from '@partner-network/common/timeout';
import { Unavailable } from '@partner-network/common/unavailable';

const busy = () => new Unavailable('Too many batches are under way.');

interface Waiting {
  readonly part: number;
  start(): void;
}

/** Hands out an amount, first come, first served. `take` resolves to a function that gives the part back. */
export function createCapacity(amount: number) {
  let waiting: Waiting[] = [];
  let free = amount;

  function give(): void {
    while (waiting.length > 0 && waiting[0]!.part <= free) {
      const next = waiting.shift()!;
      free -= next.part;
      next.start();
    }
  }

  return async function take(part: number): Promise<() => void> {
    if (waiting.length >= adminBounds.batchesWaiting) throw busy();
    const { promise, resolve } = Promise.withResolvers<void>();
    const own: Waiting = { part, start: resolve };
    waiting.push(own);
    give();
    await within(adminBounds.batchWaitMs, promise, () => {
      waiting = waiting.filter((other) => other !== own);
      give();
      return busy();
    });
    return () => {
      free += part;
      give();
    };
  };
}

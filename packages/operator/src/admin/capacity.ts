/** Limits the memory and the work of batches. A request waits for its part of both, or gets a 503. */
import type { ServerResponse } from 'node:http';
import { adminBounds } from '@partner-network/common/bounds/operator';
import { Unavailable } from '@partner-network/common/errors';
import { within } from '@partner-network/common/timeout';
import { refusal } from '@partner-network/http/refusal';

const busy = () => new Unavailable('Too many batches are under way.');

/** A request that waits, with the milliseconds that it has left: for memory and work together. */
export interface Waiter {
  leftMs: number;
  readonly response: ServerResponse | undefined;
}

/** Resolves to a function that gives the part back. */
export type Take = (part: number, waiter: Waiter) => Promise<() => void>;

/** Returns a function that creates a capacity. All capacities share the limit of requests that wait. */
export function createCapacities() {
  let requests = 0;

  /** Hands out parts of a capacity, first come, first served. */
  return function createCapacity(size: number): Take {
    let waiting: { readonly part: number; isTaken: boolean; readonly start: () => void }[] = [];
    let free = size;

    function give(): void {
      while (waiting.length > 0 && waiting[0]!.part <= free) {
        const next = waiting.shift()!;
        free -= next.part;
        next.isTaken = true;
        next.start();
      }
    }

    return async (part, waiter) => {
      if (requests >= adminBounds.batchesWaiting) throw busy();
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const own = { part, isTaken: false, start: resolve };
      const leave = () => reject(busy());
      const abort = () => reject(refusal('MALFORMED_REQUEST'));
      const startedMs = performance.now();
      requests += 1;
      waiter.response?.once('close', leave);
      waiter.response?.req.once('aborted', abort);
      waiting.push(own);
      give();
      try {
        await within(waiter.leftMs, promise, busy);
        // A batch that blocks the process also delays the timer.
        if (performance.now() - startedMs > waiter.leftMs) throw busy();
      } catch (error) {
        // A request can leave and get its part in the same moment.
        if (own.isTaken) free += part;
        waiting = waiting.filter((other) => other !== own);
        give();
        throw error;
      } finally {
        requests -= 1;
        waiter.response?.off('close', leave);
        waiter.response?.req.off('aborted', abort);
        waiter.leftMs -= performance.now() - startedMs;
      }
      return () => {
        free += part;
        give();
      };
    };
  };
}

/** Limits the memory and the work of batches. A request waits for its part of both, or gets a 503. */
import type { ServerResponse } from 'node:http';
import { adminBounds } from '@partner-network/common/bounds/operator';
import { Unavailable } from '@partner-network/common/errors';
import { within } from '@partner-network/common/timeout';
import { refusal } from '@partner-network/http/refusal';

const busy = () => new Unavailable('Too many batches are under way.');

/** A request, with the milliseconds for which it still waits: for memory and work together. */
export interface Patient {
  leftMs: number;
  readonly response: ServerResponse | undefined;
}

/** Resolves to a function that gives the part back. */
export type Take = (part: number, patient: Patient) => Promise<() => void>;

interface Waiting {
  readonly part: number;
  start(): void;
}

/** Returns a function that creates an amount. The limit of requests that wait is for memory and work together. */
export function createAmounts() {
  let requests = 0;

  /** Hands out an amount, first come, first served. */
  return function createAmount(amount: number): Take {
    let waiting: Waiting[] = [];
    let free = amount;

    function give(): void {
      while (waiting.length > 0 && waiting[0]!.part <= free) {
        const next = waiting.shift()!;
        free -= next.part;
        next.start();
      }
    }

    return async (part, patient) => {
      if (requests >= adminBounds.batchesWaiting) throw busy();
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      let isTaken = false;
      const start = () => {
        isTaken = true;
        resolve();
      };
      const own: Waiting = { part, start };
      const leave = () => reject(busy());
      const abort = () => reject(refusal('MALFORMED_REQUEST'));
      const startedMs = performance.now();
      requests += 1;
      patient.response?.once('close', leave);
      patient.response?.req.once('aborted', abort);
      waiting.push(own);
      give();
      try {
        await within(patient.leftMs, promise, busy);
        // A batch that blocks the process also delays the timer.
        if (performance.now() - startedMs > patient.leftMs) throw busy();
      } catch (error) {
        // A request can leave and get its part in the same moment.
        if (isTaken) free += part;
        waiting = waiting.filter((other) => other !== own);
        give();
        throw error;
      } finally {
        requests -= 1;
        patient.response?.off('close', leave);
        patient.response?.req.off('aborted', abort);
        patient.leftMs -= performance.now() - startedMs;
      }
      return () => {
        free += part;
        give();
      };
    };
  };
}

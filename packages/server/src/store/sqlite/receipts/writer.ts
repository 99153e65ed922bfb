import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { receiptsBounds } from '../../../bounds/receipts.ts';
import { StoreUnavailable } from '../../port.ts';
import type { Writes } from './writes.ts';

export type Order =
  | { readonly kind: keyof Writes; readonly batch: string }
  | { readonly kind: 'end'; readonly batch?: undefined };

export interface Outcome {
  readonly fault: string | undefined;
}

interface Writer {
  /** Resolves when it is written. */
  write(kind: keyof Writes, batch: readonly object[]): Promise<void>;
  close(): Promise<void>;
}

/**
 * Writes in a thread of its own, which is started when there is something to write: a start does not wait for
 * it. This engine blocks who waits for it, and now and then it waits for the disk, 50 to 150 ms, in which no
 * request would be answered.
 */
export function createWriter(path: string): Writer {
  /** Those who wait for their batch, in the order in which the thread writes them. */
  let waiting: PromiseWithResolvers<void>[] = [];
  let startedMs = Number.NEGATIVE_INFINITY;
  let lastFault = '';
  let thread: Worker | undefined;

  function start(): Worker {
    startedMs = performance.now();
    const started = new Worker(new URL('./thread.ts', import.meta.url), { workerData: path });
    started.on('message', ({ fault }: Outcome) => settle(waiting.shift(), fault));
    started.on('error', ({ message }) => lose(started, message));
    started.on('exit', () => lose(started, 'its thread has ended'));
    return started;
  }

  function settle(asked: PromiseWithResolvers<void> | undefined, fault: string | undefined): void {
    // A thread without work does not keep the process alive.
    if (waiting.length === 0) thread?.unref();
    if (fault === undefined) asked?.resolve();
    else asked?.reject(unwritten(fault));
  }

  /** The next batch starts another, unless this one has hardly lived: it would be no better off. */
  function lose(ended: Worker, fault: string): void {
    // An error is followed by the end, when another may be at work already.
    if (thread !== ended) return;
    const lost = waiting;
    waiting = [];
    thread = undefined;
    lastFault = fault;
    for (const asked of lost) settle(asked, fault);
  }

  return {
    async write(kind, batch) {
      const isTooSoon = performance.now() - startedMs < receiptsBounds.receiptsThreadMs;
      if (thread === undefined && isTooSoon) throw unwritten(lastFault);
      thread ??= start();
      thread.ref();
      const asked = Promise.withResolvers<void>();
      waiting.push(asked);
      // As one text: to copy thousands of objects into a thread takes longer than that.
      thread.postMessage({ kind, batch: JSON.stringify(batch) } satisfies Order);
      return asked.promise;
    },

    async close() {
      if (thread === undefined) return;
      const ended = once(thread, 'exit').catch(() => {});
      thread.ref();
      thread.postMessage({ kind: 'end' } satisfies Order);
      await ended;
    },
  };
}

function unwritten(fault: string): StoreUnavailable {
  return new StoreUnavailable(`The file of receipts cannot be written to now (${fault}).`);
}

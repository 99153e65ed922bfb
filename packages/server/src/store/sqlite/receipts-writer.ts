import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { StoreUnavailable } from '../port.ts';
import type { Writes } from './receipts-writes.ts';

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
 * Writes in a thread of its own, which is there before the first receipt is. This engine blocks who waits for
 * it, and now and then it waits for the disk, 50 to 150 ms, in which no request would be answered.
 */
export function startWriter(path: string): Writer {
  /** Those who wait for their batch, in the order in which the thread writes them. */
  let waiting: PromiseWithResolvers<void>[] = [];
  let thread: Worker | undefined = start();

  function start(): Worker {
    const started = new Worker(new URL('./receipts-thread.ts', import.meta.url), { workerData: path });
    started.on('message', ({ fault }: Outcome) => settle(waiting.shift(), fault));
    started.on('error', ({ message }) => lose(message));
    started.on('exit', () => lose('its thread has ended'));
    started.unref();
    return started;
  }

  function settle(asked: PromiseWithResolvers<void> | undefined, fault: string | undefined): void {
    // A thread without work does not keep the process alive.
    if (waiting.length === 0) thread?.unref();
    if (fault === undefined) asked?.resolve();
    else asked?.reject(new StoreUnavailable(`A receipt cannot be written now (${fault}).`));
  }

  /** The next batch starts another. */
  function lose(fault: string): void {
    const lost = waiting;
    waiting = [];
    thread = undefined;
    for (const asked of lost) settle(asked, fault);
  }

  return {
    write(kind, batch) {
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

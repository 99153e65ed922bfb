import { receiptsBounds } from '../../../bounds/receipts.ts';
import { StoreUnavailable } from '../../port.ts';
import { type CalledThread, startThread } from '../thread-call.ts';
import type { Writes } from './writes.ts';

/** The batch as JSON: copying thousands of objects into a thread takes longer than one text. */
export interface WriteRequest {
  readonly kind: keyof Writes;
  readonly batch: string;
}

interface Writer {
  /** Resolves when the batch is written. */
  write(kind: keyof Writes, batch: readonly object[]): Promise<void>;
  close(): Promise<void>;
}

/**
 * Writes in a thread, because SQLite blocks its caller and now and then waits 50 to 150 ms for the disk: no
 * request would be answered meanwhile. The thread starts with the first batch, so it does not delay a start.
 */
export function createWriter(path: string): Writer {
  let thread: CalledThread<WriteRequest, void> | undefined;
  let startedMs = Number.NEGATIVE_INFINITY;

  /** Replaces a thread that has died, but not at once: the next one would die of the same cause. */
  function currentThread(): CalledThread<WriteRequest, void> {
    const isDead = thread?.failure() !== undefined;
    if (
      thread === undefined ||
      (isDead && performance.now() - startedMs >= receiptsBounds.receiptsThreadMs)
    ) {
      startedMs = performance.now();
      thread = startThread(new URL('./thread.ts', import.meta.url), path);
    }
    return thread;
  }

  return {
    async write(kind, batch) {
      try {
        await currentThread().call({ kind, batch: JSON.stringify(batch) });
      } catch (error) {
        const reason = (error as Error).message;
        throw new StoreUnavailable(`The file of receipts cannot be written to now (${reason}).`);
      }
    },

    async close() {
      await thread?.close();
    },
  };
}

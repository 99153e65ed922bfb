import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';
import type { Logger } from 'pino';
import { receiptsBounds } from '../bounds/receipts.ts';
import { within } from '../lib/timeout.ts';
import { createOutageLog } from '../observability/outage-log.ts';
import { outside } from '../observability/span.ts';

/**
 * Writes records in the background, in batches, oldest first. They are kept in memory for up to 250 ms, or
 * until the database is available again. `what` names them in the log.
 */
export function createBatchWriter<Item>(
  what: string,
  mostWaiting: number,
  write: (batch: readonly Item[]) => Promise<void>,
  log: Logger,
) {
  const waiting = new Map<string, Item>();
  const counts = { written: 0, dropped: 0 };
  const outage = createOutageLog(receiptsBounds.receiptsOutageMs);
  const loss = createOutageLog();
  const closing = new AbortController();
  let running: Promise<void> | undefined;
  let isClosed = false;

  async function run(): Promise<void> {
    const { receiptsFlushMs, receiptsRetryMs } = receiptsBounds;
    // Closing ends this pause, so that a shutdown does not wait for it.
    await wait(receiptsFlushMs, undefined, { ref: false, signal: closing.signal }).catch(() => {});
    while (waiting.size > 0 && !isClosed) {
      if (!(await writeAll())) await wait(receiptsRetryMs, undefined, { ref: false });
    }
    running = undefined;
  }

  /** Returns false at the first failure. */
  async function writeAll(): Promise<boolean> {
    try {
      while (waiting.size > 0) {
        const batch = waiting.entries().take(receiptsBounds.receiptsBatch).toArray();
        await write(batch.map(([, item]) => item));
        // An item may have been replaced meanwhile.
        for (const [id, item] of batch) if (waiting.get(id) === item) waiting.delete(id);
        counts.written += batch.length;
        // Building a batch takes about a millisecond: requests get their turn before the next one.
        await nextTurn();
      }
    } catch (err) {
      const fields = { err, waiting: waiting.size };
      outage.failed(() => log.error(fields, `${what} cannot be written; they are kept in memory`));
      return false;
    }
    outage.recovered(() => log.warn(`${what} can be written again`));
    loss.recovered(() => {});
    return true;
  }

  return {
    counts,
    waiting: () => waiting.size,

    /** Replaces a waiting item with the same id. */
    add(id: string, item: Item): void {
      if (waiting.size < mostWaiting) waiting.set(id, item);
      else {
        counts.dropped += 1;
        loss.failed(() => log.error(`too many ${what} wait to be written; new ones are lost`));
      }
      running ??= outside(run);
    },

    /** Writes the waiting items, and gives up after `receiptsCloseMs`. */
    async close(): Promise<void> {
      if (closing.signal.aborted) return;
      closing.abort();
      const late = () => new Error('Writing takes too long.');
      if (running !== undefined) await within(receiptsBounds.receiptsCloseMs, running, late).catch(() => {});
      isClosed = true;
      if (waiting.size > 0)
        log.error({ lost: waiting.size }, `${what} were not written before shutdown and are lost`);
    },
  };
}

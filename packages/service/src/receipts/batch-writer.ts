import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';
import { receiptsBounds } from '@partner-network/common/bounds/receipts';
import { createOutageLog } from '@partner-network/common/observability/outage-log';
import { outside } from '@partner-network/common/observability/span';
import { within } from '@partner-network/common/timeout';
import { PartlyWritten } from '@partner-network/store/port';
import type { Logger } from 'pino';

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
  /** Items that were not tried yet, and items that a node of the database could not take. */
  const [waiting, held] = [new Map<string, Item>(), new Map<string, Item>()];
  const size = () => waiting.size + held.size;
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
    while (size() > 0 && !isClosed) {
      if (!(await writeAll())) await wait(receiptsRetryMs, undefined, { ref: false });
    }
    running = undefined;
  }

  /** Writes a batch. Returns the items that a node of the database cannot take. */
  async function writeBatch(batch: readonly Item[]): Promise<ReadonlySet<Item>> {
    try {
      await write(batch);
      return new Set();
    } catch (err) {
      if (!(err instanceof PartlyWritten)) throw err;
      report(err);
      return new Set(err.rest as readonly unknown[] as Item[]);
    }
  }

  async function writeQueue(queue: Map<string, Item>): Promise<void> {
    while (queue.size > 0) {
      const batch = queue.entries().take(receiptsBounds.receiptsBatch).toArray();
      const rest = await writeBatch(batch.map(([, item]) => item));
      counts.written += batch.length - rest.size;
      for (const [id, item] of batch) {
        // An item may have been replaced meanwhile.
        if (queue.get(id) === item) queue.delete(id);
        if (rest.has(item)) hold(id, item);
      }
      // Building a batch takes about a millisecond: requests get their turn before the next one.
      await nextTurn();
      // The node is still down: the items that wait come first.
      if (queue === held && rest.size > 0) return;
    }
  }

  /** Held items take half of the memory at most. The other half is for items that can be written. */
  function hold(id: string, item: Item): void {
    if (held.size < mostWaiting / 2) held.set(id, item);
    else lose();
  }

  /** Returns false if an item is left. */
  async function writeAll(): Promise<boolean> {
    try {
      await writeQueue(held);
      await writeQueue(waiting);
    } catch (err) {
      report(err);
      return false;
    }
    if (held.size > 0) return false;
    outage.recovered(() => log.warn(`${what} can be written again`));
    loss.recovered(() => {});
    return true;
  }

  function lose(): void {
    counts.dropped += 1;
    loss.failed(() => log.error(`too many ${what} wait to be written; new ones are lost`));
  }

  function report(err: unknown): void {
    const fields = { err, waiting: size() };
    outage.failed(() => log.error(fields, `${what} cannot be written; they are kept in memory`));
  }

  return {
    counts,
    waiting: size,

    /** Replaces a waiting item with the same id. */
    add(id: string, item: Item): void {
      if (size() < mostWaiting) waiting.set(id, item);
      else lose();
      running ??= outside(run);
    },

    /** Writes the waiting items, and gives up after `receiptsCloseMs`. */
    async close(): Promise<void> {
      if (closing.signal.aborted) return;
      closing.abort();
      const late = () => new Error('Writing takes too long.');
      if (running !== undefined) await within(receiptsBounds.receiptsCloseMs, running, late).catch(() => {});
      isClosed = true;
      if (size() > 0) log.error({ lost: size() }, `${what} were not written before shutdown and are lost`);
    },
  };
}

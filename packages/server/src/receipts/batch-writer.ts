import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';
import type { Logger } from 'pino';
import { receiptsBounds } from '../bounds/receipts.ts';
import { within } from '../lib/timeout.ts';
import { createOutageLog } from '../observability/outage-log.ts';
import { outside } from '../observability/span.ts';
import { PartlyWritten } from '../store/port.ts';

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
  /** The number of items, the oldest, that wait for a node of the database. The others can be written. */
  let held = 0;
  // The other half of the memory is for items that can be written.
  const mostHeld = mostWaiting / 2;
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

  /** Returns false if an item is left. */
  async function writeAll(): Promise<boolean> {
    // The oldest held items are tried again. If they still cannot be written, the others are not tried.
    let first = 0;
    try {
      while (waiting.size > first) {
        const batch = waiting.entries().drop(first).take(receiptsBounds.receiptsBatch).toArray();
        const rest = await writeBatch(batch.map(([, item]) => item));
        let kept = 0;
        for (const [id, item] of batch) {
          if (rest.has(item) && first + kept < mostHeld) kept += 1;
          // An item may have been replaced meanwhile.
          else if (waiting.get(id) === item) waiting.delete(id);
        }
        counts.written += batch.length - rest.size;
        lose(rest.size - kept);
        held = first === 0 ? Math.max(held - batch.length + kept, kept) : held + kept;
        if (rest.size > 0) first = held;
        // Building a batch takes about a millisecond: requests get their turn before the next one.
        await nextTurn();
      }
    } catch (err) {
      report(err);
      return false;
    }
    if (held > 0) return false;
    outage.recovered(() => log.warn(`${what} can be written again`));
    loss.recovered(() => {});
    return true;
  }

  function lose(count: number): void {
    if (count === 0) return;
    counts.dropped += count;
    loss.failed(() => log.error(`too many ${what} wait to be written; new ones are lost`));
  }

  function report(err: unknown): void {
    const fields = { err, waiting: waiting.size };
    outage.failed(() => log.error(fields, `${what} cannot be written; they are kept in memory`));
  }

  return {
    counts,
    waiting: () => waiting.size,

    /** Replaces a waiting item with the same id. */
    add(id: string, item: Item): void {
      if (waiting.size < mostWaiting) waiting.set(id, item);
      else lose(1);
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

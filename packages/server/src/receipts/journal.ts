import { setTimeout as wait } from 'node:timers/promises';
import type { Logger } from 'pino';
import { receiptsBounds } from '../bounds/receipts.ts';
import { type Metric, singleMetric } from '../observability/metric.ts';
import type { Receipt, ReceiptWrites } from '../store/port.ts';
import { createKeyUses } from './key-uses.ts';

/**
 * What is written down of requests, without any of them waiting for it: it is kept in memory until the next
 * of the batches, a quarter of a second later at the most, and no longer than the database allows.
 */
export interface Journal {
  add(receipt: Receipt): void;
  /** That a key was used. */
  noteUse(keyId: string, nowMs: number): void;
  readonly metrics: readonly Metric[];
  /** Writes what is left, and gives up on it after a while. */
  close(): Promise<void>;
}

export function createJournal(store: ReceiptWrites, log: Logger): Journal {
  const waiting: Receipt[] = [];
  const uses = createKeyUses();
  const outage = createOutage(log, 'receipts');
  const outageOfUses = createOutage(log, 'last uses of keys');
  let written = 0;
  let dropped = 0;
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> | undefined;
  let isClosed = false;

  const isEmpty = () => waiting.length === 0 && uses.isEmpty();

  function schedule(ms: number): void {
    if (!isClosed) timer ??= setTimeout(() => void write(), ms).unref();
  }

  /** One at a time, however many ask for it. */
  function write(): Promise<void> {
    writing ??= writeAll().finally(() => {
      clearTimeout(timer);
      timer = undefined;
      writing = undefined;
      if (!isEmpty()) schedule(receiptsBounds.receiptsRetryMs);
    });
    return writing;
  }

  /** What keeps receipts from being written keeps uses of keys, too; the other way round it need not. */
  async function writeAll(): Promise<void> {
    let takesUses = true;
    while (waiting.length > 0 || (takesUses && !uses.isEmpty())) {
      try {
        await writeBatch();
      } catch (fault) {
        outage.goOn(fault, waiting.length);
        return;
      }
      takesUses &&= await uses.write(store.recordKeyUses).then(outageOfUses.end, outageOfUses.goOn);
      // To put a batch together takes a moment: those who ask get their turn before the next one.
      await new Promise(setImmediate);
    }
    outage.end();
  }

  async function writeBatch(): Promise<void> {
    const batch = waiting.slice(0, receiptsBounds.receiptsBatch);
    if (batch.length > 0) await store.recordReceipts(batch);
    waiting.splice(0, batch.length);
    written += batch.length;
  }

  async function writeUntilEmpty(signal: AbortSignal): Promise<void> {
    await write();
    while (!isEmpty() && !signal.aborted) {
      await wait(receiptsBounds.receiptsRetryMs);
      await write();
    }
  }

  return {
    add(receipt) {
      if (waiting.length < receiptsBounds.receiptsWaiting) waiting.push(receipt);
      else {
        dropped += 1;
        outage.tellLoss();
      }
      schedule(receiptsBounds.receiptsFlushMs);
    },

    noteUse(keyId, nowMs) {
      if (uses.note(keyId, nowMs)) schedule(receiptsBounds.receiptsFlushMs);
    },

    metrics: [
      singleMetric(
        'partner_network_receipts_waiting',
        'gauge',
        'Receipts of list balances that are not written yet.',
        () => waiting.length,
      ),
      singleMetric(
        'partner_network_receipts_written_total',
        'counter',
        'Receipts of list balances that were written.',
        () => written,
      ),
      singleMetric(
        'partner_network_receipts_dropped_total',
        'counter',
        'Receipts lost because too many waited.',
        () => dropped,
      ),
    ],

    async close() {
      if (isClosed) return;
      const patience = AbortSignal.timeout(receiptsBounds.receiptsCloseMs);
      const late = new Promise((resolve) => patience.addEventListener('abort', resolve));
      await Promise.race([writeUntilEmpty(patience), late]);
      isClosed = true;
      clearTimeout(timer);
      if (waiting.length > 0) log.error({ lost: waiting.length }, 'receipts were not written before the end');
    },
  };
}

/** Says once what goes wrong, when it has gone on for so long that a kill could cost more than a second. */
function createOutage(log: Logger, what: string) {
  let sinceMs: number | undefined;
  let isTold = false;
  let isLossTold = false;
  return {
    goOn(fault: unknown, waiting?: number): false {
      sinceMs ??= performance.now();
      if (!isTold && performance.now() - sinceMs >= receiptsBounds.receiptsOutageMs) {
        isTold = true;
        log.error({ err: fault, waiting }, `${what} cannot be written; they are kept in memory`);
      }
      return false;
    },
    tellLoss(): void {
      if (!isLossTold) log.error('too many receipts wait to be written; from now on new ones are lost');
      isLossTold = true;
    },
    end(): true {
      if (isTold || isLossTold) log.warn(`${what} are written again`);
      sinceMs = undefined;
      isTold = false;
      isLossTold = false;
      return true;
    },
  };
}

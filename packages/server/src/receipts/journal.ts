import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';
import type { Logger } from 'pino';
import { receiptsBounds } from '../bounds/receipts.ts';
import { within } from '../lib/timeout.ts';
import { type Metric, singleMetric } from '../observability/metric.ts';
import { createOutageLog } from '../observability/outage-log.ts';
import type { Receipt, ReceiptWrites } from '../store/port.ts';
import { createKeyUses } from './key-uses.ts';

/**
 * Writes receipts and key uses in the background, so that no request waits for them. They are kept in memory
 * for up to 250 ms, or until the database is available again.
 */
export interface Journal {
  add(receipt: Receipt): void;
  noteUse(keyId: string, nowMs: number): void;
  readonly metrics: readonly Metric[];
  /** Writes what is left, and gives up after `receiptsCloseMs`. */
  close(): Promise<void>;
}

export function createJournal(store: ReceiptWrites, log: Logger): Journal {
  const waiting: Receipt[] = [];
  const uses = createKeyUses();
  const outage = createOutageLog(receiptsBounds.receiptsOutageMs);
  const usesOutage = createOutageLog(receiptsBounds.receiptsOutageMs);
  const loss = createOutageLog();
  let written = 0;
  let dropped = 0;
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> | undefined;
  let isClosed = false;

  const isEmpty = () => waiting.length === 0 && uses.isEmpty();

  function schedule(ms: number): void {
    if (!isClosed) timer ??= setTimeout(() => void write(), ms).unref();
  }

  /** Callers share one write: there is never more than one at a time. */
  function write(): Promise<void> {
    writing ??= writeAll().finally(() => {
      clearTimeout(timer);
      timer = undefined;
      writing = undefined;
      if (!isEmpty()) schedule(receiptsBounds.receiptsRetryMs);
    });
    return writing;
  }

  /** Stops at the first failure to write receipts. A failure to write key uses does not stop receipts. */
  async function writeAll(): Promise<void> {
    let takesUses = true;
    while (waiting.length > 0 || (takesUses && !uses.isEmpty())) {
      try {
        await writeBatch();
      } catch (err) {
        const fields = { err, waiting: waiting.length };
        outage.failed(() => log.error(fields, 'receipts cannot be written; they are kept in memory'));
        return;
      }
      takesUses &&= await writeUses();
      // Building a batch takes about a millisecond: requests get their turn before the next one.
      await nextTurn();
    }
    let wasLogged = false;
    for (const { recovered } of [outage, loss]) {
      recovered(() => {
        wasLogged = true;
      });
    }
    if (wasLogged) log.warn('receipts are written again');
  }

  async function writeBatch(): Promise<void> {
    const batch = waiting.slice(0, receiptsBounds.receiptsBatch);
    if (batch.length > 0) await store.recordReceipts(batch);
    waiting.splice(0, batch.length);
    written += batch.length;
  }

  async function writeUses(): Promise<boolean> {
    try {
      await uses.write(store.recordKeyUses);
      usesOutage.recovered(() => log.warn('last uses of keys are written again'));
      return true;
    } catch (err) {
      usesOutage.failed(() =>
        log.error({ err }, 'last uses of keys cannot be written; they are kept in memory'),
      );
      return false;
    }
  }

  async function writeUntilEmpty(): Promise<void> {
    await write();
    while (!isEmpty() && !isClosed) {
      await wait(receiptsBounds.receiptsRetryMs);
      await write();
    }
  }

  return {
    add(receipt) {
      if (waiting.length < receiptsBounds.receiptsWaiting) waiting.push(receipt);
      else {
        dropped += 1;
        loss.failed(() => log.error('too many receipts wait to be written; from now on new ones are lost'));
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
      const late = () => new Error('Writing takes too long.');
      await within(receiptsBounds.receiptsCloseMs, writeUntilEmpty(), late).catch(() => {});
      isClosed = true;
      clearTimeout(timer);
      if (waiting.length > 0) log.error({ lost: waiting.length }, 'receipts were not written before the end');
    },
  };
}

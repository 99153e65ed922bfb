import { receiptsBounds } from '@partner-network/common/bounds/service';
import { metric } from '@partner-network/common/observability/metric';
import { toTime } from '@partner-network/common/times';
import type { JournalWrites, KeyOnFile, Receipt, UsageCount } from '@partner-network/store/port';
import type { Logger } from 'pino';
import { BatchWriter } from './batch-writer.ts';

export type Journal = ReturnType<typeof createJournal>;

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** Writes receipts, key uses and usage in the background, so that no request waits for them. */
export function createJournal(store: JournalWrites, log: Logger) {
  const { waiting: mostWaiting, keyUsesNoted } = receiptsBounds;
  const receipts = new BatchWriter('receipts', mostWaiting, store.recordReceipts, log);
  const uses = new BatchWriter('last uses of keys', keyUsesNoted, store.recordKeyUses, log);
  const usages = new BatchWriter('counts of usage', mostWaiting, store.recordUsage, log);
  const usage = createUsageCounter(usages);
  const { counts } = receipts;
  /** The minute in which each key was last used. */
  const noted = new Map<string, number>();

  return {
    add: (receipt: Receipt): void => receipts.add(receipt.request_id, receipt),

    /** A key costs at most one write per minute. */
    noteUse(keyId: string, nowMs: number): void {
      const minute = Math.floor(nowMs / minuteMs);
      if (noted.get(keyId) === minute) return;
      // Clearing costs at most one redundant write per key.
      if (noted.size >= keyUsesNoted) noted.clear();
      noted.set(keyId, minute);
      uses.add(keyId, { keyId, usedAt: toTime(minute * minuteMs) });
    },

    count: usage.count,

    metrics: [
      metric('partner_network_receipts_waiting', () => receipts.waiting),
      metric('partner_network_receipts_written_total', () => counts.written),
      metric('partner_network_receipts_dropped_total', () => counts.dropped),
    ],

    async close(): Promise<void> {
      usage.close();
      await Promise.all([receipts.close(), uses.close(), usages.close()]);
    },
  };
}

/**
 * Counts answers by hour, partner, key, operation and code. Gives the counts to the writer every few
 * seconds, so that a request costs no statement. While the database is lost, counts grow here and take no
 * more memory.
 */
export function createUsageCounter(writer: Pick<BatchWriter<UsageCount>, 'add' | 'waiting'>) {
  let counts = new Map<string, Omit<UsageCount, 'count'> & { count: number }>();
  let timer: NodeJS.Timeout | undefined;
  /** Makes ids of items unique: a count that is being written must not be replaced by the next one. */
  let lastId = 0;

  function giveAll(): void {
    for (const count of counts.values()) {
      lastId += 1;
      writer.add(String(lastId), count);
    }
    counts = new Map();
  }

  function giveIfTaken(): void {
    if (writer.waiting === 0) giveAll();
  }

  return {
    /** Counts an answer. The code is that of the first error. */
    count(
      { id, partnerId }: Pick<KeyOnFile, 'id' | 'partnerId'>,
      operation: string,
      code = 'OK',
      nowMs: number,
    ): void {
      const hour = Math.floor(nowMs / hourMs);
      const name = `${hour} ${operation} ${code} ${id}`;
      const counted = counts.get(name);
      if (counted !== undefined) {
        counted.count += 1;
        return;
      }
      const from = toTime(hour * hourMs);
      counts.set(name, { from, partner_id: partnerId, key_id: id, operation, code, count: 1 });
      timer ??= setInterval(giveIfTaken, receiptsBounds.usageWriteMs).unref();
      if (counts.size >= receiptsBounds.usageCounts) giveAll();
    },

    close(): void {
      clearInterval(timer);
      giveAll();
    },
  };
}

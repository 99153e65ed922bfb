import { receiptsBounds } from '@partner-network/common/bounds/service';
import { metric } from '@partner-network/common/observability/metric';
import { toTime } from '@partner-network/common/times';
import type { JournalWrites, KeyOnFile, Receipt } from '@partner-network/store/port';
import type { Logger } from 'pino';
import { BatchWriter } from './batch-writer.ts';
import { UsageCounter } from './usage.ts';

export type Journal = ReturnType<typeof createJournal>;

const minuteMs = 60_000;

/** Writes receipts, key uses and usage in the background, so that no request waits for them. */
export function createJournal(store: JournalWrites, log: Logger) {
  const { waiting: mostWaiting, keyUsesNoted } = receiptsBounds;
  const receipts = new BatchWriter('receipts', mostWaiting, store.recordReceipts, log);
  const uses = new BatchWriter('last uses of keys', keyUsesNoted, store.recordKeyUses, log);
  const usages = new BatchWriter('counts of usage', mostWaiting, store.recordUsage, log);
  const usage = new UsageCounter(usages);
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

    /** Counts an answer. The code is that of the first error. */
    count: (
      key: Pick<KeyOnFile, 'id' | 'partnerId'>,
      operation: string,
      code: string | undefined,
      nowMs: number,
    ) => usage.count(key, operation, code ?? 'OK', nowMs),

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

/** Receipts: what one says, and how they are written, together with the uses of keys and usage. */
import { receiptsBounds } from '@partner-network/common/bounds/service';
import { metric } from '@partner-network/common/observability/metric';
import { holdsKey } from '@partner-network/common/text';
import { toTime } from '@partner-network/common/times';
import { errorCatalogue } from '@partner-network/contract/errors';
import { refusalsPerMinute } from '@partner-network/contract/limits';
import type { Access, Exchange } from '@partner-network/http/handle';
import type {
  JournalWrites,
  KeyOnFile,
  Receipt,
  UsageCount,
  UsagePosition,
} from '@partner-network/store/port';
import type { Logger } from 'pino';
import { BatchWriter } from './batch-writer.ts';

/** Outcomes that only rehearsals have: a code that does not exist, and a fault without a code. */
export const rehearsedOutcomes = { unknownCode: 'REHEARSED_UNKNOWN_CODE', noCode: 'REHEARSED_FAULT' };

export const outcomes = ['GRANTED', ...Object.keys(errorCatalogue), ...Object.values(rehearsedOutcomes)];

export const someOutcome = 'GRANTED or the code of an error, such as GRANT_REVOKED';

/** Whether a receipt can have this outcome: a mistyped filter must not look like "nobody read it". */
export function isOutcome(text: string): boolean {
  return outcomes.includes(text);
}

type UsedKey = Pick<KeyOnFile, 'id' | 'partnerId'>;

/** The receipt of a response. It contains nothing of the response's body. */
export function receiptOf(
  { requestId, operation }: Pick<Exchange, 'requestId' | 'operation'>,
  key: UsedKey,
  { customerId, grantId }: Access,
  outcome: string | undefined,
  nowMs: number,
): Receipt {
  return {
    at: toTime(nowMs),
    request_id: requestId,
    operation: operation as Receipt['operation'],
    partner_id: key.partnerId,
    key_id: key.id,
    ...(customerId !== undefined && { customer_id: ownText(customerId) }),
    ...(grantId !== undefined && { grant_id: ownText(grantId) }),
    outcome: outcome ?? 'GRANTED',
  };
}

/**
 * Copies the text: a slice of the request line would keep all of its 16 KiB in memory. Masks an API key that
 * was sent instead of an id: only digests of keys are ever stored.
 */
function ownText(text: string): string {
  return holdsKey(text) ? '[key]' : Buffer.from(text).toString();
}

export type Journal = ReturnType<typeof createJournal>;

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/**
 * Writes receipts, key uses and usage in the background, so that no request waits for them. `workers` share
 * the receipts that an instance leaves of refusals.
 */
export function createJournal(store: JournalWrites, log: Logger, workers = 1) {
  const { waiting: mostWaiting, keyUsesNoted } = receiptsBounds;
  const receipts = new BatchWriter('receipts', mostWaiting, store.recordReceipts, log);
  const uses = new BatchWriter('last uses of keys', keyUsesNoted, store.recordKeyUses, log);
  const usages = new BatchWriter('counts of usage', mostWaiting, store.recordUsage, log);
  const usage = createUsageCounter(usages, Math.max(1, Math.floor(refusalsPerMinute / workers)));
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

/** A count under way. All counts of a partner and listing share their peak. */
type Counted = UsagePosition & {
  count: number;
  slowestMs: number;
  /** The last minute in which it was counted, and how often in that minute. */
  minute: number;
  inMinute: number;
  readonly peak: { value: number };
};

/** The peaks of an hour, by listing and partner. They last longer than the counts, which are written. */
function createPeaks() {
  let peaks = new Map<string, Counted['peak']>();
  let lastHour = 0;
  return (hour: number, operation: string, partnerId: string): Counted['peak'] => {
    if (hour !== lastHour) peaks = new Map();
    lastHour = hour;
    const name = `${operation} ${partnerId}`;
    const peak = peaks.get(name) ?? { value: 0 };
    peaks.set(name, peak);
    return peak;
  };
}

/**
 * Counts answers by hour, partner, key, operation and code. Gives the counts to the writer every few
 * seconds, so that a request costs no statement. While the database is lost, counts grow here and take no
 * more memory.
 */
function createUsageCounter(
  writer: Pick<BatchWriter<UsageCount>, 'add' | 'waiting'>,
  refusalsPerMinute: number,
) {
  const counts = new Map<string, Counted>();
  let lastMinute = 0;
  const peakOf = createPeaks();
  let timer: NodeJS.Timeout | undefined;
  /** Makes ids of items unique: a count that is being written must not be replaced by the next one. */
  let lastId = 0;

  function giveAll(): void {
    for (const [name, counted] of counts) {
      const { peak, slowestMs, minute, inMinute: _, ...count } = counted;
      // Kept until the next minute, because refusals leave a limited number of receipts in a minute.
      if (count.count === 0 && minute < lastMinute) counts.delete(name);
      if (count.count === 0) continue;
      counted.count = 0;
      counted.slowestMs = 0;
      lastId += 1;
      const isOk = count.code === 'OK';
      const ofAnswers = { slowest_ms: Math.round(slowestMs), ...(peak.value > 0 && { peak: peak.value }) };
      writer.add(String(lastId), { ...count, ...(isOk && ofAnswers) });
    }
  }

  return {
    /**
     * Counts an answer. The code is that of the first error. `admitted` is the number of requests of the
     * partner that were admitted in the second that ended with this one, 0 if this one was not. Returns
     * whether this answer may leave a receipt, if it is one of a flood of refusals.
     */
    count(
      { id, partnerId }: UsedKey,
      operation: string,
      code = 'OK',
      nowMs: number,
      { admitted = 0, ms = 0 }: { readonly admitted?: number | undefined; readonly ms?: number } = {},
    ): boolean {
      lastMinute = Math.floor(nowMs / minuteMs);
      const hour = Math.floor(nowMs / hourMs);
      const name = `${hour} ${operation} ${code} ${id}`;
      let counted = counts.get(name);
      if (counted === undefined) {
        const peak = peakOf(hour, operation, partnerId);
        const key = { from: toTime(hour * hourMs), partner_id: partnerId, key_id: id };
        counted = { ...key, operation, code, count: 0, peak, slowestMs: 0, minute: 0, inMinute: 0 };
        counts.set(name, counted);
        timer ??= setInterval(() => writer.waiting === 0 && giveAll(), receiptsBounds.usageWriteMs).unref();
      }
      counted.count += 1;
      if (ms > counted.slowestMs) counted.slowestMs = ms;
      if (admitted > counted.peak.value) counted.peak.value = admitted;
      if (counted.minute !== lastMinute) counted.inMinute = 0;
      counted.minute = lastMinute;
      counted.inMinute += 1;
      const mayLeaveReceipt = counted.inMinute <= refusalsPerMinute;
      if (counts.size >= receiptsBounds.usageCounts) {
        giveAll();
        counts.clear();
      }
      return mayLeaveReceipt;
    },

    close(): void {
      clearInterval(timer);
      giveAll();
    },
  };
}

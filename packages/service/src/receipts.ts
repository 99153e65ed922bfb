/** Receipts: what one says, and how they are written, together with the uses of keys and usage. */
import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';
import { receiptsBounds } from '@partner-network/common/bounds/service';
import { createFailureLog } from '@partner-network/common/observability/log';
import { metric } from '@partner-network/common/observability/metric';
import { outside } from '@partner-network/common/observability/span';
import { holdsKey } from '@partner-network/common/text';
import { within } from '@partner-network/common/timeout';
import { toTime } from '@partner-network/common/times';
import { errorCatalogue } from '@partner-network/contract/errors';
import type { Access } from '@partner-network/http/handle';
import {
  type JournalWrites,
  type KeyOnFile,
  PartlyWritten,
  type Receipt,
  type UsageCount,
} from '@partner-network/store/port';
import type { Logger } from 'pino';

/** Outcomes that only rehearsals have: a code that does not exist, and a fault without a code. */
export const rehearsedOutcomes = { unknownCode: 'REHEARSED_UNKNOWN_CODE', noCode: 'REHEARSED_FAULT' };

const outcomes = ['GRANTED', ...Object.keys(errorCatalogue), ...Object.values(rehearsedOutcomes)];

export const someOutcome = 'GRANTED or the code of an error, such as GRANT_REVOKED';

/** Whether a receipt can have this outcome: a mistyped filter must not look like "nobody read it". */
export function isOutcome(text: string): boolean {
  return outcomes.includes(text);
}

type UsedKey = Pick<KeyOnFile, 'id' | 'partnerId'>;

/** The receipt of a response. It contains nothing of the response's body. */
export function receiptOf(
  requestId: string,
  key: UsedKey,
  { customerId, grantId }: Access,
  outcome: string | undefined,
  nowMs: number,
): Receipt {
  return {
    at: toTime(nowMs),
    request_id: requestId,
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
function createUsageCounter(writer: Pick<BatchWriter<UsageCount>, 'add' | 'waiting'>) {
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

  return {
    /** Counts an answer. The code is that of the first error. */
    count({ id, partnerId }: UsedKey, operation: string, code = 'OK', nowMs: number): void {
      const hour = Math.floor(nowMs / hourMs);
      const name = `${hour} ${operation} ${code} ${id}`;
      const counted = counts.get(name);
      if (counted !== undefined) {
        counted.count += 1;
        return;
      }
      const from = toTime(hour * hourMs);
      counts.set(name, { from, partner_id: partnerId, key_id: id, operation, code, count: 1 });
      timer ??= setInterval(() => writer.waiting === 0 && giveAll(), receiptsBounds.usageWriteMs).unref();
      if (counts.size >= receiptsBounds.usageCounts) giveAll();
    },

    close(): void {
      clearInterval(timer);
      giveAll();
    },
  };
}

/**
 * Writes records in the background, in batches, oldest first. They are kept in memory for up to 250 ms, or
 * until the database is available again. `what` names them in the log.
 */
class BatchWriter<Item> {
  readonly counts = { written: 0, dropped: 0 };
  readonly #what: string;
  readonly #mostWaiting: number;
  readonly #write: (batch: readonly Item[]) => Promise<void>;
  readonly #log: Logger;
  /** Items that were not tried yet, and items that a node of the database could not take. */
  readonly #fresh = new Map<string, Item>();
  readonly #held = new Map<string, Item>();
  readonly #outage = createFailureLog({ graceMs: receiptsBounds.outageMs });
  readonly #loss = createFailureLog();
  readonly #closing = new AbortController();
  #running: Promise<void> | undefined;
  #isClosed = false;

  constructor(
    what: string,
    mostWaiting: number,
    write: (batch: readonly Item[]) => Promise<void>,
    log: Logger,
  ) {
    this.#what = what;
    this.#mostWaiting = mostWaiting;
    this.#write = write;
    this.#log = log;
  }

  get waiting(): number {
    return this.#fresh.size + this.#held.size;
  }

  /** Replaces a waiting item with the same id. */
  add(id: string, item: Item): void {
    this.#keep(this.#fresh, this.waiting < this.#mostWaiting, id, item);
    this.#running ??= outside(() => this.#run());
  }

  /** Writes the waiting items, and gives up after `closeMs`. */
  async close(): Promise<void> {
    if (this.#closing.signal.aborted) return;
    this.#closing.abort();
    await within(receiptsBounds.closeMs, this.#running ?? Promise.resolve(), Error).catch(() => {});
    this.#isClosed = true;
    const lost = this.waiting;
    if (lost > 0) this.#log.error({ lost }, `${this.#what} were not written before shutdown and are lost`);
  }

  async #run(): Promise<void> {
    const { flushMs, retryMs } = receiptsBounds;
    // Closing ends this pause, so that a shutdown does not wait for it.
    await wait(flushMs, undefined, { ref: false, signal: this.#closing.signal }).catch(() => {});
    while (this.waiting > 0 && !this.#isClosed) {
      if (!(await this.#writeAll())) await wait(retryMs, undefined, { ref: false });
    }
    this.#running = undefined;
  }

  /** Returns false if an item is left. */
  async #writeAll(): Promise<boolean> {
    try {
      await this.#writeQueue(this.#held);
      await this.#writeQueue(this.#fresh);
    } catch (err) {
      this.#report(err);
      return false;
    }
    if (this.#held.size > 0) return false;
    this.#outage.recovered(() => this.#log.warn(`${this.#what} can be written again`));
    this.#loss.recovered(() => {});
    return true;
  }

  async #writeQueue(queue: Map<string, Item>): Promise<void> {
    while (queue.size > 0) {
      const batch = queue.entries().take(receiptsBounds.batch).toArray();
      const rest = await this.#writeBatch(batch.map(([, item]) => item));
      this.counts.written += batch.length - rest.size;
      for (const [id, item] of batch) {
        // An item may have been replaced meanwhile.
        if (queue.get(id) === item) queue.delete(id);
        // Held items take half of the memory at most. The other half is for items that can be written.
        if (rest.has(item)) this.#keep(this.#held, this.#held.size < this.#mostWaiting / 2, id, item);
      }
      // Building a batch takes about a millisecond: requests get their turn before the next one.
      await nextTurn();
      // The node is still down: the items that wait come first.
      if (queue === this.#held && rest.size > 0) return;
    }
  }

  /** Writes a batch. Returns the items that a node of the database cannot take. */
  async #writeBatch(batch: readonly Item[]): Promise<ReadonlySet<Item>> {
    try {
      await this.#write(batch);
      return new Set();
    } catch (err) {
      if (!(err instanceof PartlyWritten)) throw err;
      this.#report(err);
      return new Set(err.rest as readonly unknown[] as Item[]);
    }
  }

  #keep(queue: Map<string, Item>, hasRoom: boolean, id: string, item: Item): void {
    if (hasRoom) return void queue.set(id, item);
    this.counts.dropped += 1;
    this.#loss.failed(() => this.#log.error(`too many ${this.#what} wait to be written; new ones are lost`));
  }

  #report(err: unknown): void {
    this.#outage.failed(() => {
      const fields = { err, waiting: this.waiting };
      this.#log.error(fields, `${this.#what} cannot be written; they are kept in memory`);
    });
  }
}

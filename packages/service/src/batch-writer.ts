import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';
import { receiptsBounds } from '@partner-network/common/bounds/service';
import { createFailureLog } from '@partner-network/common/observability/log';
import { outside } from '@partner-network/common/observability/span';
import { within } from '@partner-network/common/timeout';
import { PartlyWritten } from '@partner-network/store/port';
import type { Logger } from 'pino';

/**
 * Writes records in the background, in batches, oldest first. They are kept in memory for up to 250 ms, or
 * until the database is available again. `what` names them in the log.
 */
export class BatchWriter<Item> {
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

import { receiptsBounds } from '@partner-network/common/bounds/service';
import { toTime } from '@partner-network/common/times';
import type { KeyOnFile, UsageCount } from '@partner-network/store/port';
import type { BatchWriter } from './batch-writer.ts';

const hourMs = 3_600_000;

type Growing = Omit<UsageCount, 'count'> & { count: number };

/**
 * Counts answers by hour, partner, key, operation and code. Gives the counts to the writer every few
 * seconds, so that a request costs no statement. While the database is lost, counts grow here and take no
 * more memory.
 */
export class UsageCounter {
  readonly #writer: Pick<BatchWriter<UsageCount>, 'add' | 'waiting'>;
  #counts = new Map<string, Growing>();
  #timer: NodeJS.Timeout | undefined;
  /** Makes ids of items unique: a count that is being written must not be replaced by the next one. */
  #given = 0;

  constructor(writer: Pick<BatchWriter<UsageCount>, 'add' | 'waiting'>) {
    this.#writer = writer;
  }

  count(
    { id, partnerId }: Pick<KeyOnFile, 'id' | 'partnerId'>,
    operation: string,
    code: string,
    nowMs: number,
  ) {
    const hour = Math.floor(nowMs / hourMs);
    const name = `${hour} ${operation} ${code} ${id}`;
    const counted = this.#counts.get(name);
    if (counted !== undefined) {
      counted.count += 1;
      return;
    }
    const from = toTime(hour * hourMs);
    this.#counts.set(name, { from, partner_id: partnerId, key_id: id, operation, code, count: 1 });
    this.#timer ??= setInterval(() => this.#giveIfTaken(), receiptsBounds.usageWriteMs).unref();
    if (this.#counts.size >= receiptsBounds.usageCounts) this.giveAll();
  }

  #giveIfTaken(): void {
    if (this.#writer.waiting === 0) this.giveAll();
  }

  /** Gives all counts to the writer. */
  giveAll(): void {
    for (const count of this.#counts.values()) this.#writer.add(String(this.#given++), count);
    this.#counts = new Map();
  }

  close(): void {
    clearInterval(this.#timer);
    this.giveAll();
  }
}

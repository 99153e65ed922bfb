import { ingestBounds } from '@partner-network/common/bounds/operator';
import type { ImportKind, ImportRow } from '../../port.ts';
import { createOrderCheck } from '../../sql/imports.ts';
import { copyLine, tailOf } from './copy.ts';

/** Lines that are sent together. */
export interface Batch {
  readonly lines: string[];
  /** The values of each line that only the temporary table has. */
  readonly tails: string[];
  /** The numbers of the lines in the file. */
  readonly numbers: unknown[];
  /** Whether these rows and all before them are in the order of the table. */
  isSorted: boolean;
  characters: number;
  deletions: number;
}

function newBatch(isSorted: boolean): Batch {
  return { lines: [], tails: [], numbers: [], isSorted, characters: 0, deletions: 0 };
}

/** Collects rows in batches. The server reads a batch while the next one is collected. */
export class Outbox {
  readonly #kind: ImportKind;
  readonly #columns: readonly string[];
  readonly #send: (batch: Batch) => Promise<void>;
  #checkOrder: ReturnType<typeof createOrderCheck>;
  /** Rows that are not sent yet, and the batch that the server is reading. */
  #batch = newBatch(true);
  #sending = Promise.resolve();

  constructor(kind: ImportKind, columns: readonly string[], send: (batch: Batch) => Promise<void>) {
    this.#kind = kind;
    this.#columns = columns;
    this.#send = send;
    this.#checkOrder = createOrderCheck(kind);
  }

  /** Whether all rows are in the order of the table. */
  get isSorted(): boolean {
    return this.#batch.isSorted;
  }

  /** Rows without a number are numbered after `sent`. Rejects if an earlier batch failed. */
  async add(rows: readonly ImportRow[], sent: number): Promise<void> {
    const batch = this.#batch;
    batch.isSorted = this.#checkOrder(rows);
    for (const row of rows) {
      const line = copyLine(row, this.#columns);
      batch.lines.push(line);
      batch.tails.push(this.#kind === 'grants' ? '' : tailOf(row));
      batch.numbers.push(row.line ?? sent + batch.lines.length);
      batch.characters += line.length;
      if (row.deleted_at !== undefined) batch.deletions += 1;
    }
    if (batch.characters >= ingestBounds.importCopyCharacters) await this.#flush();
  }

  async #flush(): Promise<void> {
    await this.#sending;
    if (this.#batch.lines.length > 0) this.#sending = this.#send(this.#batch);
    this.#sending.catch(() => {});
    this.#batch = newBatch(this.#batch.isSorted);
  }

  /** Sends all rows. Rejects if a batch failed. */
  async flushAll(): Promise<void> {
    await this.#flush();
    await this.#sending;
  }

  /** Forgets the order of the rows so far. */
  startAgain(): void {
    this.#checkOrder = createOrderCheck(this.#kind);
    this.#batch = newBatch(true);
  }
}

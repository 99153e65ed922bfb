/** The same balances in two files: JSON Lines for the import, tab-separated text for bulk loading. */
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';

/** Sorted by the table's key, or scattered: each row is far from the previous one. */
export const orders = ['sorted', 'scattered'] as const;
export type Order = (typeof orders)[number];

export const columns = ['customer_id', 'id', 'type', 'currency', 'amount', 'created_at', 'updated_at'];

export interface DataFiles {
  readonly lines: string;
  readonly bulk: string;
}

const balancesOfCustomer = 4;
const firstDay = Date.UTC(2026, 0, 1);
const recordsOfChunk = 2_000;

export async function writeData(folder: string, rows: number, order: Order): Promise<DataFiles> {
  const files = { lines: join(folder, `${order}.jsonl`), bulk: join(folder, `${order}.tsv`) };
  const write = (file: string, format: (row: object) => string) =>
    pipeline(chunks(rows, order, format), createWriteStream(file));
  await write(files.lines, JSON.stringify);
  await write(files.bulk, (row) => Object.values(row).join('\t'));
  return files;
}

function* chunks(rows: number, order: Order, format: (row: object) => string): Generator<string> {
  const step = order === 'sorted' ? 1 : scatteringStep(rows);
  for (let start = 0; start < rows; start += recordsOfChunk) {
    const count = Math.min(recordsOfChunk, rows - start);
    const lines = Array.from({ length: count }, (_, index) => format(balance(start + index, step, rows)));
    yield `${lines.join('\n')}\n`;
  }
}

function balance(index: number, step: number, rows: number): object {
  const number = (index * step) % rows;
  const time = new Date(firstDay + index * 1_000).toISOString();
  return {
    customer_id: `CUST_${String(Math.floor(number / balancesOfCustomer)).padStart(12, '0')}`,
    id: `BAL_${number.toString(16).padStart(32, '0')}`,
    type: 'CHECKING',
    currency: 'USD',
    amount: ((number * 7_919) % 10_000_000) - 1_000,
    created_at: time,
    updated_at: time,
  };
}

/** A step without a common factor reaches each number once; the golden ratio keeps neighbors far apart. */
function scatteringStep(rows: number): number {
  const common = (one: number, other: number): number => (other === 0 ? one : common(other, one % other));
  let step = Math.max(1, Math.round(rows * 0.618_034));
  while (common(step, rows) !== 1) step += 1;
  return step;
}

import { ingestBounds } from '../bounds/ingest.ts';
import type { ImportRow } from '../store/port.ts';

interface Batch {
  add(row: ImportRow): void;
  /** Whether it must be written before more rows are added. */
  isFull(): boolean;
  isEmpty(): boolean;
  /** Returns the rows and empties the batch. */
  take(): readonly ImportRow[];
}

/** Rows that are written together, limited in number and in text: a row may hold 1 MiB. */
export function createBatch(): Batch {
  let rows: ImportRow[] = [];
  let characters = 0;
  return {
    add: (row) => {
      rows.push(row);
      for (const column in row) {
        const value = row[column];
        if (typeof value === 'string') characters += value.length;
      }
    },
    isFull: () =>
      rows.length >= ingestBounds.importBatchRecords || characters >= ingestBounds.importBatchCharacters,
    isEmpty: () => rows.length === 0,
    take: () => {
      const taken = rows;
      rows = [];
      characters = 0;
      return taken;
    },
  };
}

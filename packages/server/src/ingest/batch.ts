import { ingestBounds } from '../bounds/ingest.ts';
import type { ImportRow } from '../store/port.ts';

interface Batch {
  add(row: ImportRow): void;
  /** Whether it is to be written before more is added, for its rows or for the text in them. */
  isFull(): boolean;
  isEmpty(): boolean;
  /** All that was added; it is empty then. */
  take(): readonly ImportRow[];
}

/** Rows that are written together: many small ones, or a few of which each holds a mebibyte. */
export function createBatch(): Batch {
  let rows: ImportRow[] = [];
  let characters = 0;
  return {
    add: (row) => {
      rows.push(row);
      characters += charactersOf(row);
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

function charactersOf(row: ImportRow): number {
  let characters = 0;
  for (const column in row) {
    const value = row[column];
    if (typeof value === 'string') characters += value.length;
  }
  return characters;
}

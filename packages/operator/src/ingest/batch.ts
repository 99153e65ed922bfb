import { ingestBounds } from '@partner-network/common/bounds/operator';
import type { ImportRow } from '@partner-network/store/port';

/** Rows that are written together, limited in number and in text: a row may hold 1 MiB. */
export function createBatch() {
  let rows: ImportRow[] = [];
  let characters = 0;
  return {
    /** `text` is what the row was read from. Its length is enough: adding up the fields takes longer. */
    add: (row: ImportRow, text = ''): void => {
      rows.push(row);
      characters += text.length;
    },
    /** Whether it must be written before more rows are added. */
    isFull: () =>
      rows.length >= ingestBounds.importBatchRecords || characters >= ingestBounds.importBatchCharacters,
    isEmpty: () => rows.length === 0,
    /** Returns the rows and empties the batch. */
    take: (): readonly ImportRow[] => {
      const taken = rows;
      rows = [];
      characters = 0;
      return taken;
    },
  };
}

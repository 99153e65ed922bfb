import type { DatabaseSync } from 'node:sqlite';
import type { ImportKind, ImportPace, ImportRow, Imports } from '../../port.ts';
import { importColumns } from '../../sql/import-columns.ts';
import { createOrderCheck } from '../../sql/import-order.ts';
import { type ImportWriter, startImportThread } from './writer.ts';
import { createImportWrites, type RowValues, type StagedRows } from './writes.ts';

/**
 * What comes slowly is written by this thread, and so is a single batch. From the second batch of a file on,
 * another thread writes while this one reads the next: to start it takes as long as to write a few thousand
 * rows.
 */
export function createImports(db: DatabaseSync, path: string): Imports {
  return {
    beginImport: async (kind, pace = 'slow') => {
      const checkOrder = createOrderCheck(kind);
      let writer = pace === 'slow' ? writerHere(db, kind, pace) : undefined;
      let held: StagedRows | undefined;

      async function giveHeld(to: ImportWriter): Promise<void> {
        if (held !== undefined) await to.stage(held);
        held = undefined;
      }

      return {
        stage: async (rows) => {
          const given = { values: valuesOf(rows, kind), isSorted: checkOrder(rows) };
          if (writer === undefined && held === undefined) {
            held = given;
            return;
          }
          writer ??= startImportThread(path, kind);
          await giveHeld(writer);
          await writer.stage(given);
        },
        write: async (mode) => {
          writer ??= writerHere(db, kind, pace);
          await giveHeld(writer);
          return writer.write(mode);
        },
        end: async () => writer?.end(),
      };
    },
  };
}

function writerHere(db: DatabaseSync, kind: ImportKind, pace: ImportPace): ImportWriter {
  const writes = createImportWrites(db, kind, pace);
  return {
    stage: async (rows) => writes.stage(rows),
    write: async (mode) => writes.write(mode),
    end: async () => writes.end(),
  };
}

function valuesOf(rows: readonly ImportRow[], kind: ImportKind): RowValues {
  const columns = importColumns[kind].all;
  const values: (string | number | null)[] = [];
  for (const row of rows) for (const column of columns) values.push(row[column] ?? null);
  return values;
}

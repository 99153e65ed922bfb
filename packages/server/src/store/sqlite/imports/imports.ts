import type { DatabaseSync } from 'node:sqlite';
import { ingestBounds } from '../../../bounds/ingest.ts';
import type { ImportCounts, ImportKind, ImportRow, Imports } from '../../port.ts';
import { createOrderCheck, importColumns } from '../../sql/imports.ts';
import { translated } from '../engine.ts';
import { startThread } from '../thread-call.ts';
import { createImportWrites, type StagedRows } from './writes.ts';

/** Rows as JSON: copying thousands of values into a thread takes twice as long as one text. */
export type ImportRequest = { readonly rows: string } | { readonly mode: 'keep' | 'try' };

/**
 * Slow imports and single batches are written by this thread. From the second batch of a file on, another
 * thread writes while this one reads on: starting it takes as long as writing a few thousand rows.
 */
export function createImports(db: DatabaseSync, path: string): Imports {
  return {
    beginImport: async (kind, pace = 'slow') => {
      const checkOrder = createOrderCheck(kind);
      type Writer = ReturnType<typeof createImportWrites> | ReturnType<typeof writesInThread>;
      let writer: Writer | undefined = pace === 'slow' ? createImportWrites(db, kind, pace) : undefined;
      const waiting: StagedRows[] = [];

      async function stageWaiting(to: Writer): Promise<void> {
        for (const batch of waiting.splice(0)) await to.stage(batch);
      }

      return {
        stage: async (rows) => {
          waiting.push({ values: valuesOf(rows, kind), isSorted: checkOrder(rows) });
          if (waiting.length > 1) writer ??= writesInThread(path, kind);
          if (writer !== undefined) await stageWaiting(writer);
        },
        write: async (mode) => {
          writer ??= createImportWrites(db, kind, pace);
          await stageWaiting(writer);
          return writer.write(mode);
        },
        end: async () => writer?.end(),
      };
    },
  };
}

/** Like `createImportWrites`, in a thread with its own connection. */
function writesInThread(path: string, kind: ImportKind) {
  const file = new URL('./thread.ts', import.meta.url);
  const thread = startThread<ImportRequest, ImportCounts>(file, { path, kind });
  /** Batches that the thread has not written yet. Without any ahead, an import takes 15 % longer. */
  const ahead: Promise<unknown>[] = [];

  const call = (request: ImportRequest) =>
    thread.call(request).catch((error) => {
      throw translated(error);
    });

  return {
    /** Resolves when there is room for more rows. A later call reports a failure. */
    stage: async (rows: StagedRows): Promise<void> => {
      const staged = call({ rows: JSON.stringify(rows) });
      staged.catch(() => {});
      if (ahead.push(staged) > ingestBounds.importBatchesAhead) await ahead.shift();
    },
    write: async (mode: 'keep' | 'try'): Promise<ImportCounts> => {
      await Promise.all(ahead.splice(0));
      return call({ mode });
    },
    end: thread.close,
  };
}

function valuesOf(rows: readonly ImportRow[], kind: ImportKind): StagedRows['values'] {
  const columns = importColumns[kind].all;
  const values: (string | number | null)[] = [];
  for (const row of rows) for (const column of columns) values.push(row[column] ?? null);
  return values;
}

import type { DatabaseSync } from 'node:sqlite';
import { ingestBounds } from '../../../bounds/ingest.ts';
import type { ImportCounts, ImportKind, ImportPace, ImportRow, ImportRun, Imports } from '../../port.ts';
import { createOrderCheck, importColumns } from '../../sql/imports.ts';
import { translated } from '../engine.ts';
import { startThread } from '../thread-call.ts';
import { createImportWrites, type RowValues, type StagedRows } from './writes.ts';

/** Writes an import's rows: on a connection of this thread, or in another thread with its own connection. */
interface ImportWriter {
  /** Resolves when there is room for more rows. A failure may be reported by a later call. */
  stage(rows: StagedRows): Promise<void>;
  write: ImportRun['write'];
  end(): Promise<void>;
}

export interface ImportThreadData {
  readonly path: string;
  readonly kind: ImportKind;
}

/** Rows as JSON: copying thousands of values into a thread takes twice as long as one text. */
export type ImportRequest = { readonly rows: string } | { readonly mode: 'keep' | 'try' };

/**
 * Slow imports and single batches are written by this thread. From the second batch of a file on, another
 * thread writes while this one reads on: to start it takes as long as to write a few thousand rows.
 */
export function createImports(db: DatabaseSync, path: string): Imports {
  return {
    beginImport: async (kind, pace = 'slow') => {
      const checkOrder = createOrderCheck(kind);
      let writer = pace === 'slow' ? writerHere(db, kind, pace) : undefined;
      let firstBatch: StagedRows | undefined;

      async function stageFirst(to: ImportWriter): Promise<void> {
        if (firstBatch !== undefined) await to.stage(firstBatch);
        firstBatch = undefined;
      }

      return {
        stage: async (rows) => {
          const batch = { values: valuesOf(rows, kind), isSorted: checkOrder(rows) };
          if (writer === undefined && firstBatch === undefined) {
            firstBatch = batch;
            return;
          }
          writer ??= writerInThread(path, kind);
          await stageFirst(writer);
          await writer.stage(batch);
        },
        write: async (mode) => {
          writer ??= writerHere(db, kind, pace);
          await stageFirst(writer);
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

function writerInThread(path: string, kind: ImportKind): ImportWriter {
  const data: ImportThreadData = { path, kind };
  const thread = startThread<ImportRequest, ImportCounts>(new URL('./thread.ts', import.meta.url), data);
  /** Batches that the thread has not written yet. Without any ahead, an import takes 15 % longer. */
  const ahead: Promise<unknown>[] = [];

  const call = (request: ImportRequest) =>
    thread.call(request).catch((error) => {
      throw translated(error);
    });

  return {
    stage: async (rows) => {
      const staged = call({ rows: JSON.stringify(rows) });
      // A failure is reported by the first later call that waits: the thread fails all calls after one.
      staged.catch(() => {});
      if (ahead.push(staged) > ingestBounds.importBatchesAhead) await ahead.shift();
    },
    write: (mode) => call({ mode }),
    end: thread.close,
  };
}

function valuesOf(rows: readonly ImportRow[], kind: ImportKind): RowValues {
  const columns = importColumns[kind].all;
  const values: (string | number | null)[] = [];
  for (const row of rows) for (const column of columns) values.push(row[column] ?? null);
  return values;
}

import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import { ingestBounds } from '../../../bounds/ingest.ts';
import { toTime } from '../../../lib/times.ts';
import type {
  ImportBegin,
  ImportKind,
  ImportResult,
  ImportRow,
  Imports,
  ImportWrite,
  Missing,
} from '../../port.ts';
import { createOrderCheck, grantLineColumns, importColumns } from '../../sql/imports.ts';
import { translated } from '../engine.ts';
import { startThread } from '../thread-call.ts';
import type { Segment, SegmentForm } from './kind-writes.ts';
import { createImportWrites } from './writes.ts';

/** Rows as JSON: copying thousands of values into a thread takes twice as long as one text. */
export type ImportRequest = { readonly segment: string } | { readonly write: ImportWrite } | { count: true };

/**
 * Slow imports and single batches are written by this thread. From the second batch of a file on, another
 * thread writes while this one reads on: starting it takes as long as writing a few thousand rows.
 * `requireFiles` throws if the files of the database were replaced: rows written there would be lost.
 */
export function createImports(db: DatabaseSync, path: string, requireFiles: () => void): Imports {
  return {
    beginImport: async (kind, options = {}) => {
      const checkOrder = createOrderCheck(kind);
      const startedAt = toTime(Date.now());
      const open = () => createImportWrites(db, kind, options, startedAt);
      type Writer = ReturnType<typeof open> | ReturnType<typeof writesInThread>;
      let writer: Writer | undefined = options.pace === 'fast' ? undefined : open();
      let batches = 0;
      const waiting: Segment[] = [];

      async function opened(): Promise<Writer> {
        writer ??= open();
        for (const segment of waiting.splice(0)) await writer.stage(segment);
        return writer;
      }

      return {
        stage: async (rows) => {
          waiting.push(...segmentsOf(rows, kind, checkOrder(rows)));
          batches += 1;
          if (batches > 1) writer ??= writesInThread(path, kind, options, startedAt);
          if (writer !== undefined) await opened();
        },
        countMissing: async () => (await opened()).countMissing(),
        write: async (write) => {
          requireFiles();
          const result = await (await opened()).write(write);
          requireFiles();
          return result;
        },
        end: async () => writer?.end(),
      };
    },
  };
}

/** Like `createImportWrites`, in a thread with its own connection. */
function writesInThread(path: string, kind: ImportKind, options: ImportBegin, startedAt: string) {
  const file = new URL('./thread.ts', import.meta.url);
  const thread = startThread<ImportRequest, unknown>(file, { path, kind, options, startedAt });
  /** Batches that the thread has not written yet. Without any ahead, an import takes 15 % longer. */
  const ahead: Promise<unknown>[] = [];

  const call = (request: ImportRequest) =>
    thread.call(request).catch((error) => {
      throw translated(error);
    });

  async function callAfterAll(request: ImportRequest): Promise<unknown> {
    await Promise.all(ahead.splice(0));
    return call(request);
  }

  return {
    /** Resolves when there is room for more rows. A later call reports a failure. */
    stage: async (segment: Segment): Promise<void> => {
      const staged = call({ segment: JSON.stringify(segment) });
      staged.catch(() => {});
      if (ahead.push(staged) > ingestBounds.importBatchesAhead) await ahead.shift();
    },
    countMissing: () => callAfterAll({ count: true }) as Promise<Missing>,
    write: (write: ImportWrite) => callAfterAll({ write }) as Promise<ImportResult>,
    end: thread.close,
  };
}

function formOf(row: ImportRow, kind: ImportKind): SegmentForm {
  if (kind === 'grants') return 'grant';
  if (row.deleted_at !== undefined) return 'deletion';
  return row.is_timed === 1 ? 'timed' : 'untimed';
}

/** Splits rows where their form changes. */
function segmentsOf(rows: readonly ImportRow[], kind: ImportKind, isSorted: boolean): Segment[] {
  const { identity, all } = importColumns[kind];
  const columnsOf = {
    timed: all,
    untimed: all,
    deletion: [...identity, 'deleted_at'],
    grant: grantLineColumns,
  };
  const segments: { form: SegmentForm; values: SQLInputValue[]; rows: number; isSorted: boolean }[] = [];
  for (const row of rows) {
    const form = formOf(row, kind);
    if (segments.at(-1)?.form !== form) segments.push({ form, values: [], rows: 0, isSorted });
    const segment = segments.at(-1)!;
    for (const column of columnsOf[form]) segment.values.push(row[column] ?? null);
    segment.rows += 1;
  }
  return segments;
}

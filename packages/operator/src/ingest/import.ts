/**
 * An import of a file: reads, checks and stages records, then writes all of them or nothing.
 *
 *     staging  --all read, no rejection--> writing       (with skipsRejected, rejected lines do not count)
 *     staging  --a rejected line--> checking             the run ends; the rest is only checked and reported
 *     staging or checking --all read--> nothing written  after a rejected line or a cut
 *     writing  --committed, or tried in a dry run--> done
 *     any      --stop, before the commit--> nothing written, rejects with the reason of the stop
 *
 * `follow.ts` imports a feed instead, which is committed as it comes.
 */

import { ingestBounds } from '@partner-network/common/bounds/operator';
import type {
  Accounts,
  ImportAudit,
  ImportBegin,
  ImportCounts,
  ImportKind,
  ImportRow,
  ImportRun,
  Imports,
  ImportWrite,
  Missing,
  RefusedLine,
} from '@partner-network/store/port';
import type { Cut, Reading } from './lines.ts';
import type { RejectedFile } from './output-files.ts';
import { createRecordCheck, type RecordOptions } from './record-check.ts';
import { collectRejectedLines, type RejectedLine, rejectionsOfRefused } from './rejections.ts';

/** Reads the records from the start. Called again to find the text of lines that the store refuses. */
export type Source = () => AsyncIterable<readonly Reading[]>;

export interface ImportOptions
  extends RecordOptions,
    Pick<ImportBegin, 'pace' | 'overwrites' | 'undoFile' | 'onWait'>,
    Pick<ImportWrite, 'mode'> {
  /** Write the valid records even if lines are rejected. Not with `deleteMissing`. */
  readonly skipsRejected: boolean;
  /** Delete what the file does not contain. The function is called before, and throws to prevent it. */
  readonly deleteMissing?: ((counts: Missing) => Promise<void>) | undefined;
  readonly audit?: ImportAudit | undefined;
  /** What to add to the details of the audit entry. Called when all is read. */
  auditDetails?(): ImportAudit['details'];
  /** Gets each rejected line. */
  readonly rejectedFile?: RejectedFile | undefined;
  /** Ends the import, unless its commit has begun. */
  readonly stop?: AbortSignal;
  /** Called with the number of records read so far. */
  onRead?(records: number): void;
  /** Called when all is read and the valid records are staged, and when they are about to be committed. */
  onStep?(step: 'staged' | 'merged', records: number): void;
}

export interface ImportReport extends ImportCounts {
  readonly read: number;
  readonly rejected_count: number;
  /** The first importReportedLines of them, in order. */
  readonly rejected: readonly RejectedLine[];
}

/** Why nothing was written, besides rejected lines. */
type Stop = Cut | 'empty';

const noCounts: ImportCounts = { written: 0, unchanged: 0, stale: 0, deleted: 0 };

type ImportStore = Imports & Pick<Accounts, 'findPartner'>;
type Outcome = ImportReport & { readonly stop?: Stop | undefined };

export async function importRecords(
  store: ImportStore,
  source: Source,
  options: ImportOptions,
): Promise<Outcome> {
  const { kind, pace, overwrites, undoFile, onWait, deleteMissing, stop } = options;
  const deletesMissing = deleteMissing !== undefined;
  stop?.throwIfAborted();
  const run = await store.beginImport(kind, {
    pace,
    deletesMissing,
    overwrites,
    undoFile,
    ...(onWait && { onWait }),
  });
  const { promise: interruption, reject } = Promise.withResolvers<never>();
  const interrupt = () => run.prevent() && reject(stop!.reason);
  stop?.addEventListener('abort', interrupt);
  if (stop?.aborted) interrupt();
  try {
    return await Promise.race([importOn(run, store, source, options), interruption]);
  } finally {
    stop?.removeEventListener('abort', interrupt);
    await run.end();
  }
}

/** Whether nothing was written because of the input. */
export function hasFailed(
  { rejected_count, stop }: Outcome,
  { skipsRejected }: Pick<ImportOptions, 'skipsRejected'>,
): boolean {
  return stop !== undefined || (rejected_count > 0 && !skipsRejected);
}

async function importOn(
  run: ImportRun,
  store: ImportStore,
  source: Source,
  options: ImportOptions,
): Promise<Outcome> {
  const { kind, deleteMissing, audit, skipsRejected, rejectedFile } = options;
  const check = createRecordCheck(store, options);
  const rejected = collectRejectedLines();
  const batch = createBatch();
  let read = 0;
  let isLost = false;
  /** Grants are compared with the stored ones even after a rejected line, to report all rejections. */
  const isStaging = () => !isLost || kind === 'grants';
  let stop: Stop | undefined;
  for await (const some of source()) {
    read += some.length;
    options.onRead?.(read);
    const last = some.at(-1);
    if (last !== undefined && 'rejections' in last) stop = last.cutAt;
    for (const { line, row, text, rejections } of await check(some)) {
      if (rejections.length > 0) {
        rejected.add({ line, errors: rejections });
        rejectedFile?.add(line, rejections, text);
        const isFirst = !isLost;
        isLost = !skipsRejected;
        // Nothing will be written: release the database and only check the rest.
        if (isFirst && !isStaging()) await run.end();
      } else if (isStaging()) {
        batch.add(row, text);
        if (batch.isFull()) await run.stage(batch.take());
      }
    }
  }
  if (deleteMissing !== undefined && read === 0) stop = 'empty';
  if (stop !== undefined || !isStaging()) return { read, ...noCounts, ...rejected.report(), stop };
  await run.stage(batch.take());
  if (deleteMissing !== undefined) await deleteMissing(await run.countMissing());
  const valid = read - rejected.count();
  options.onStep?.('staged', valid);
  const details = { ...audit?.details, ...options.auditDetails?.() };
  const keepRefused = rejectedFile && ((lines: Refused) => addRefused(rejectedFile, source, lines));
  const { rejected: refused, ...counts } = await run.write({
    mode: isLost ? 'try' : options.mode,
    skipsRejected,
    audit: audit && { ...audit, details, rejected: rejected.count() },
    ...(keepRefused && { onRejected: keepRefused }),
    onCommit: () => options.onStep?.('merged', valid),
  });
  for (const one of refused) rejected.add({ line: one.line, errors: rejectionsOfRefused(one) });
  const isCounted = skipsRejected || rejected.count() === 0;
  return { read, ...(isCounted ? counts : noCounts), ...rejected.report() };
}

type Refused = readonly RefusedLine[];

/** Reads the input again, because the text of a line is not kept until the store refuses the line. */
async function addRefused(file: RejectedFile, source: Source, refused: Refused): Promise<void> {
  const byLine = new Map(refused.map((one) => [one.line, one]));
  for await (const some of source()) {
    for (const { line, text } of some) {
      const why = byLine.get(line);
      if (why !== undefined) file.add(line, rejectionsOfRefused(why), text);
    }
  }
}

/** Imports records that are in memory. */
export async function importValues(
  store: Imports & Pick<Accounts, 'findPartner'>,
  kind: ImportKind,
  values: readonly unknown[],
  partnerId?: string,
  audit?: ImportAudit,
): Promise<ImportReport> {
  async function* readings(): AsyncGenerator<readonly Reading[]> {
    yield values.map((value, index) => ({ line: index + 1, value }));
  }
  return importRecords(store, readings, { kind, partnerId, mode: 'keep', skipsRejected: false, audit });
}

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

/**
 * An import of a file: reads, checks and stages records, then writes all of them or nothing.
 *
 *     staging  --all read, no fault--> writing           (with skipInvalid, faulty lines do not count)
 *     staging  --a rejected line--> checking             the run ends; the rest is only checked and reported
 *     staging or checking --all read--> nothing written  after a rejected line or a cut
 *     writing  --committed, or tried in a dry run--> done
 *
 * `follow.ts` imports a feed instead, which is committed as it comes.
 */
import type {
  Accounts,
  ImportAudit,
  ImportBegin,
  ImportCounts,
  ImportKind,
  Imports,
  Missing,
} from '../store/port.ts';
import { createBatch } from './batch.ts';
import { collectFaultyLines, type FaultyLine, immutableFault } from './faults.ts';
import { type Cut, createRecordCheck, type Reading, type RecordOptions } from './record-check.ts';

export interface ImportOptions extends RecordOptions {
  /** How fast readings come; the default is slow. */
  readonly pace?: ImportBegin['pace'];
  /** Write the valid records even if lines are rejected. */
  readonly skipInvalid: boolean;
  /** Roll back at the end. */
  readonly dryRun: boolean;
  /** Delete what the file does not contain. The function is called before, and throws to prevent it. */
  readonly deleteMissing?: ((counts: Missing) => Promise<void>) | undefined;
  readonly audit?: ImportAudit | undefined;
  /** Called with the number of records read so far. */
  onRead?(records: number): void;
  /** Called when all is read and the valid records are about to be written. */
  onWriting?(records: number): void;
}

export interface ImportReport extends ImportCounts {
  readonly read: number;
  readonly rejected_count: number;
  /** The first importReportedLines of them, in order. */
  readonly rejected: readonly FaultyLine[];
}

/** Why nothing was written, besides rejected lines. */
type Stop = Cut | 'empty';

const noCounts: ImportCounts = { written: 0, unchanged: 0, stale: 0, deleted: 0 };

export async function importRecords(
  store: Imports & Pick<Accounts, 'findPartner'>,
  readings: AsyncIterable<readonly Reading[]>,
  options: ImportOptions,
): Promise<ImportReport & { readonly stop?: Stop | undefined }> {
  const { kind, pace, deleteMissing, audit, dryRun } = options;
  const check = createRecordCheck(store, options);
  const rejected = collectFaultyLines();
  const batch = createBatch();
  // What a file does not contain is known only if all of it is valid.
  const skipsRejected = options.skipInvalid && deleteMissing === undefined;
  let read = 0;
  let isLost = false;
  /** Grants are compared with the stored ones even after a rejected line, to report all faults. */
  const isStaging = () => !isLost || kind === 'grants';
  let stop: Stop | undefined;
  const run = await store.beginImport(kind, { pace, deletesMissing: deleteMissing !== undefined });
  try {
    for await (const some of readings) {
      read += some.length;
      options.onRead?.(read);
      const last = some.at(-1);
      if (last !== undefined && 'faults' in last) stop = last.cutAt;
      for (const { line, row, faults } of await check(some)) {
        if (faults.length > 0) {
          rejected.add({ line, errors: faults });
          const isFirst = !isLost;
          isLost = !skipsRejected;
          // Nothing will be written: release the database and only check the rest.
          if (isFirst && !isStaging()) await run.end();
        } else if (isStaging()) {
          batch.add(row);
          if (batch.isFull()) await run.stage(batch.take());
        }
      }
    }
    if (deleteMissing !== undefined && read === 0) stop = 'empty';
    if (stop !== undefined || !isStaging()) return { read, ...noCounts, ...rejected.report(), stop };
    await run.stage(batch.take());
    if (deleteMissing !== undefined) await deleteMissing(await run.countMissing());
    options.onWriting?.(read - rejected.count());
    const mode = dryRun || isLost ? 'try' : 'keep';
    const { rejected: refused, ...counts } = await run.write({
      mode,
      skipsRejected,
      audit: audit && { ...audit, rejected: rejected.count() },
    });
    for (const { line, fields } of refused) {
      rejected.add({ line, errors: fields.map((field) => immutableFault(field)) });
    }
    const isWritten = !isLost && (refused.length === 0 || skipsRejected);
    return { read, ...(isWritten ? counts : noCounts), ...rejected.report() };
  } finally {
    await run.end();
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
  return importRecords(store, readings(), { kind, partnerId, skipInvalid: false, dryRun: false, audit });
}

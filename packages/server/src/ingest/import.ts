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
import { newId } from '../lib/ids.ts';
import { toTime } from '../lib/times.ts';
import type { Accounts, ImportKind, ImportPace, ImportRow, Imports } from '../store/port.ts';
import { createBatch } from './batch.ts';
import { createChecker } from './check.ts';
import { collectFaultyLines, type FaultyLine, type ImportFault, importFault } from './faults.ts';
import { kinds } from './kinds.ts';
import type { PersonalDataPolicy } from './personal-data/personal-data.ts';

/** A record as it was read, before it is checked: its value, or why it could not be read. */
export type Reading = { readonly line: number } & (
  | { readonly value: unknown }
  | { readonly faults: readonly ImportFault[]; readonly cutAt?: Cut }
);

/** Where the rest of a file became unreadable. Then nothing is written, even with skipInvalid. */
type Cut = 'header' | 'record';

/** How to check records of a file or a feed. */
export interface RecordOptions {
  readonly kind: ImportKind;
  /** The owner of imported brands; other kinds name their owner. */
  readonly partnerId: string;
  /** What to do with apparent personal data; the default is to reject it. */
  readonly personalData?: PersonalDataPolicy;
  /** Called for each line that is accepted although it seems to contain personal data. */
  warn?(line: FaultyLine): void;
}

export interface ImportOptions extends RecordOptions {
  /** How fast readings come; the default is slow. */
  readonly pace?: ImportPace | undefined;
  /** Write the valid records even if lines are rejected. */
  readonly skipInvalid: boolean;
  /** Roll back at the end. */
  readonly dryRun: boolean;
  /** Called with the number of records read so far. */
  onRead?(records: number): void;
  /** Called when all is read and the valid records are about to be written. */
  onWriting?(records: number): void;
}

export interface ImportReport {
  readonly read: number;
  readonly written: number;
  readonly unchanged: number;
  readonly rejected_count: number;
  /** The first importReportedLines of them, in order. */
  readonly rejected: readonly FaultyLine[];
}

export async function importRecords(
  store: Imports & Pick<Accounts, 'findPartner'>,
  readings: AsyncIterable<readonly Reading[]>,
  options: ImportOptions,
): Promise<ImportReport & { readonly cutAt?: Cut }> {
  const check = createRecordCheck(store, options);
  const rejected = collectFaultyLines();
  const batch = createBatch();
  let read = 0;
  let isLost = false;
  let cutAt: Cut | undefined;
  const run = await store.beginImport(options.kind, options.pace);
  try {
    for await (const some of readings) {
      read += some.length;
      options.onRead?.(read);
      const last = some.at(-1);
      if (last !== undefined && 'faults' in last) cutAt = last.cutAt;
      for (const { line, row, faults } of await check(some)) {
        if (faults.length > 0) {
          rejected.add({ line, errors: faults });
          // Nothing will be written: release the database and only check the rest.
          if (!options.skipInvalid && !isLost) await run.end();
          isLost = !options.skipInvalid;
        } else if (!isLost) {
          batch.add(row);
          if (batch.isFull()) await run.stage(batch.take());
        }
      }
    }
    if (cutAt !== undefined) return { read, written: 0, unchanged: 0, ...rejected.report(), cutAt };
    if (isLost) return { read, written: 0, unchanged: 0, ...rejected.report() };
    await run.stage(batch.take());
    options.onWriting?.(read - rejected.count());
    const counts = await run.write(options.dryRun ? 'try' : 'keep');
    return { read, ...counts, ...rejected.report() };
  } finally {
    await run.end();
  }
}

interface CheckedRecord {
  readonly line: number;
  readonly row: ImportRow;
  readonly faults: ImportFault[];
}

/** Returns a function that turns readings into rows, each with all of its faults. */
export function createRecordCheck(
  store: Pick<Accounts, 'findPartner'>,
  { kind, partnerId, personalData = 'reject', warn }: RecordOptions,
): (readings: readonly Reading[]) => Promise<readonly CheckedRecord[]> {
  const { schema, idPrefix, freeTexts, defaults } = kinds[kind];
  const checkFields = createChecker(schema, personalData === 'allow' ? [] : freeTexts);
  const partners = new Set<string>();

  async function isPartner(id: string): Promise<boolean> {
    if (partners.has(id)) return true;
    // Unknown ids are not cached: a file may invent any number of them.
    if ((await store.findPartner(id)) !== undefined) partners.add(id);
    return partners.has(id);
  }

  /** Fills in defaults and the fields that the service issues. */
  function complete(row: Record<string, string | number | undefined>): ImportRow {
    for (const column in defaults) row[column] ??= defaults[column];
    if (kind === 'brands') row.partner_id = partnerId;
    row.id ??= newId(idPrefix);
    if (row.created_at === undefined || row.updated_at === undefined) {
      const now = toTime(Date.now());
      row.created_at ??= now;
      row.updated_at ??= now;
    }
    return row;
  }

  function checkOne(reading: Reading): CheckedRecord {
    const { line } = reading;
    if ('faults' in reading) return { line, row: {}, faults: [...reading.faults] };
    const { fields, faults, personal } = checkFields(reading.value);
    if (personalData === 'reject' && personal.length > 0) faults.push(...personal);
    if (faults.length > 0) return { line, row: fields, faults };
    if (personal.length > 0) warn?.({ line, errors: personal });
    return { line, row: complete(fields), faults };
  }

  return async (readings) => {
    const checked = readings.map(checkOne);
    if (kind !== 'grants') return checked;
    for (const { row, faults } of checked) {
      if (row.partner_id !== undefined && !(await isPartner(String(row.partner_id)))) {
        faults.push(importFault('UNKNOWN_PARTNER', 'partner_id'));
      }
    }
    return checked;
  };
}

/** Imports records that are in memory. */
export async function importValues(
  store: Imports & Pick<Accounts, 'findPartner'>,
  kind: ImportKind,
  values: readonly unknown[],
  partnerId = '',
): Promise<ImportReport> {
  async function* readings(): AsyncGenerator<readonly Reading[]> {
    yield values.map((value, index) => ({ line: index + 1, value }));
  }
  return importRecords(store, readings(), { kind, partnerId, skipInvalid: false, dryRun: false });
}

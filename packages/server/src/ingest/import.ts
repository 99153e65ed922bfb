import { bounds } from '../bounds.ts';
import type { Accounts, ImportKind, ImportRows, ImportRun, Imports } from '../store/port.ts';
import { toTime } from '../times.ts';
import { createChecker } from './check.ts';
import { type ImportFault, importFault } from './faults.ts';
import { kinds } from './kinds.ts';

/** A record as it was read, before it is checked: its line, and its value or why it could not be read. */
export type Reading = { readonly line: number } & (
  | { readonly value: unknown }
  | { readonly fault: ImportFault }
);

export interface ImportOptions {
  readonly kind: ImportKind;
  /** Whose brands they are; the other kinds say it themselves. */
  readonly partnerId: string;
  /** Write the good ones; otherwise one rejected line means that nothing is written. */
  readonly skipInvalid: boolean;
  /** Do all but keep it. */
  readonly dryRun: boolean;
}

export interface ImportReport {
  readonly read: number;
  readonly written: number;
  readonly unchanged: number;
  readonly rejected_count: number;
  /** The first of them, in order. */
  readonly rejected: readonly { readonly line: number; readonly errors: readonly ImportFault[] }[];
}

/** Reads, checks and writes, in one transaction: all of it, or nothing. */
export async function importRecords(
  store: Imports & Pick<Accounts, 'findPartner'>,
  readings: AsyncIterable<Reading>,
  options: ImportOptions,
): Promise<ImportReport> {
  const { kind, skipInvalid, dryRun } = options;
  const check = createRecordCheck(store, options);
  const counts = { read: 0, written: 0, unchanged: 0, rejected_count: 0 };
  const rejected: ImportReport['rejected'][number][] = [];
  const run = await store.beginImport(kind);
  let batch: ImportRows[ImportKind][] = [];

  async function flush(): Promise<void> {
    const { written, unchanged } = await (run as ImportRun<unknown>).write(batch);
    counts.written += written;
    counts.unchanged += unchanged;
    batch = [];
  }

  const isLost = () => counts.rejected_count > 0 && !skipInvalid;
  try {
    for await (const reading of readings) {
      counts.read += 1;
      const { row, faults } = await check(reading);
      if (faults.length > 0) {
        counts.rejected_count += 1;
        if (rejected.length < bounds.importReportedLines)
          rejected.push({ line: reading.line, errors: faults });
      } else if (!isLost()) {
        batch.push(row);
        if (batch.length === bounds.importBatchRecords) await flush();
      }
    }
    await flush();
    if (dryRun || isLost()) await run.rollback();
    else await run.commit();
  } catch (error) {
    await run.rollback();
    throw error;
  }
  return { ...counts, ...(isLost() && { written: 0, unchanged: 0 }), rejected };
}

/** From a reading to a row, or to all that is wrong with it. */
function createRecordCheck(store: Pick<Accounts, 'findPartner'>, { kind, partnerId }: ImportOptions) {
  const checkFields = createChecker(kinds[kind].schema);
  const partners = new Set<string>();
  const toRow = kinds[kind].toRow as (
    fields: object,
    now: string,
    partnerId: string,
  ) => ImportRows[ImportKind];

  async function isPartner(id: string): Promise<boolean> {
    if (partners.has(id)) return true;
    const isKnown = (await store.findPartner(id)) !== undefined;
    // Only those that exist are remembered: a file may invent any number of others.
    if (isKnown) partners.add(id);
    return isKnown;
  }

  return async (
    reading: Reading,
  ): Promise<{ row: ImportRows[ImportKind]; faults: readonly ImportFault[] }> => {
    const { fields, faults } =
      'fault' in reading ? { fields: {}, faults: [reading.fault] } : checkFields(reading.value);
    const owner = kind === 'grants' ? fields.partner_id : undefined;
    if (typeof owner === 'string' && !(await isPartner(owner))) {
      faults.push(importFault('UNKNOWN_PARTNER', 'partner_id'));
    }
    return { row: toRow(fields, toTime(Date.now()), partnerId), faults };
  };
}

import { newId } from '../lib/ids.ts';
import { toTime } from '../lib/times.ts';
import type { Accounts, ImportKind, ImportPace, ImportRow, ImportRun, Imports } from '../store/port.ts';
import { createBatch } from './batch.ts';
import { createChecker } from './check.ts';
import { type ImportFault, importFault } from './faults.ts';
import { collectFaultyLines, type FaultyLine } from './faulty-lines.ts';
import { kinds } from './kinds.ts';
import type { PersonalDataPolicy } from './personal-data/personal-data.ts';

/** A record as it was read, before it is checked: its line, and its value or why it could not be read. */
export type Reading = { readonly line: number } & (
  | { readonly value: unknown }
  | { readonly faults: readonly ImportFault[]; readonly cutAt?: Cut }
);

/** Where a fault leaves nobody knowing what the rest of a file says: it is the last of all then. */
type Cut = 'header' | 'record';

/** What records are to be, whether they come from a file or a feed. */
export interface RecordOptions {
  readonly kind: ImportKind;
  /** Whose brands they are; the other kinds say it themselves. */
  readonly partnerId: string;
  /** What to do about what looks like personal data; rejected when nothing is said. */
  readonly personalData?: PersonalDataPolicy;
  /** Told of each line that is taken although it seems to hold personal data. */
  warn?(line: FaultyLine): void;
}

export interface ImportOptions extends RecordOptions {
  /** How the readings come; slow unless it is said. */
  readonly pace?: ImportPace | undefined;
  /** Write the good ones; otherwise one rejected line means that nothing is written. */
  readonly skipInvalid: boolean;
  /** Do all but keep it. */
  readonly dryRun: boolean;
  readonly watch?: ImportWatch;
}

/** Who wants to know how far an import has come. */
interface ImportWatch {
  /** So many records were read until now. */
  read(records: number): void;
  /** All was read; what is good is written now, all of it or nothing. */
  writing(records: number): void;
}

export interface ImportReport {
  readonly read: number;
  readonly written: number;
  readonly unchanged: number;
  readonly rejected_count: number;
  /** The first of them, in order. */
  readonly rejected: readonly FaultyLine[];
}

/** After some faults nobody knows what the rest of a file says: nothing is written, skip or not. */
interface CutShort {
  readonly cutAt?: Cut;
}

/** Reads, checks and writes: all of it, or nothing. */
export async function importRecords(
  store: Imports & Pick<Accounts, 'findPartner'>,
  readings: AsyncIterable<readonly Reading[]>,
  options: ImportOptions,
): Promise<ImportReport & CutShort> {
  const run = await store.beginImport(options.kind, options.pace);
  try {
    const { read, rejected_count, rejected, ...cut } = await stageAll(store, readings, options, run);
    const isLost = cut.cutAt !== undefined || (rejected_count > 0 && !options.skipInvalid);
    if (isLost) return { read, written: 0, unchanged: 0, rejected_count, rejected, ...cut };
    options.watch?.writing(read - rejected_count);
    const counts = await run.write(options.dryRun ? 'try' : 'keep');
    return { read, ...counts, rejected_count, rejected };
  } finally {
    await run.end();
  }
}

/** Stages what is good, in batches, and remembers what is not. */
async function stageAll(
  store: Pick<Accounts, 'findPartner'>,
  readings: AsyncIterable<readonly Reading[]>,
  options: ImportOptions,
  run: ImportRun,
): Promise<Omit<ImportReport, 'written' | 'unchanged'> & CutShort> {
  const check = createRecordCheck(store, options);
  const rejected = collectFaultyLines();
  let read = 0;
  let cutAt: Cut | undefined;
  const batch = createBatch();
  const isLost = () => rejected.count() > 0 && !options.skipInvalid;
  for await (const some of readings) {
    read += some.length;
    options.watch?.read(read);
    const last = some.at(-1);
    if (last !== undefined && 'faults' in last) cutAt = last.cutAt;
    for (const { line, row, faults } of await check(some)) {
      if (faults.length > 0) {
        rejected.add({ line, errors: faults });
        // The rest is only checked: nobody need wait for what is not written.
        if (isLost() && rejected.count() === 1) await run.end();
      } else if (!isLost()) {
        batch.add(row);
        if (batch.isFull()) await run.stage(batch.take());
      }
    }
  }
  if (!isLost()) await run.stage(batch.take());
  const reported = { read, rejected_count: rejected.count(), rejected: rejected.first };
  return cutAt === undefined ? reported : { ...reported, cutAt };
}

export interface CheckedRecord {
  readonly line: number;
  readonly row: ImportRow;
  readonly faults: ImportFault[];
}

/** From readings to rows, or to all that is wrong with each. */
export function createRecordCheck(
  store: Pick<Accounts, 'findPartner'>,
  { kind, partnerId, personalData = 'reject', warn }: RecordOptions,
): (readings: readonly Reading[]) => Promise<readonly CheckedRecord[]> {
  const { schema, idPrefix, freeTexts, defaults } = kinds[kind];
  const checkFields = createChecker(schema, personalData === 'allow' ? [] : freeTexts);
  const partners = new Set<string>();

  async function isPartner(id: string): Promise<boolean> {
    if (partners.has(id)) return true;
    const isKnown = (await store.findPartner(id)) !== undefined;
    // Only those that exist are remembered: a file may invent any number of others.
    if (isKnown) partners.add(id);
    return isKnown;
  }

  /** Fills in what the record leaves out, and what the service issues. */
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

/** Imports what is in memory already. */
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

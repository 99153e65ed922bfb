/** Moves records, erasures, and partners with their keys from one database to another. */

import { ingestBounds } from '@partner-network/common/bounds/operator';
import { type Command, jsonText, type Output, shownJson } from '@partner-network/common/command-line/command';
import { flag, optional } from '@partner-network/common/command-line/options';
import { createProgress } from '@partner-network/common/command-line/progress';
import { OperatorError } from '@partner-network/common/errors';
import { counted } from '@partner-network/common/text';
import type { ExportSelection, MoveCounts, MovedCounts } from '@partner-network/store/port';
import { readErasure, readPartner } from '../ingest/exported.ts';
import { readJsonLines } from '../ingest/json.ts';
import type { Rejection } from '../ingest/rejections.ts';
import { requirePartner } from '../operations/partners.ts';
import { changing, explainConflict, onDatabase, partnerId } from './database.ts';
import { bytesOf } from './import/input.ts';
import { remarkErrors } from './import/report.ts';

/** One document of JSON could not be read line by line. */
const json = flag('no effect: the output is always JSON Lines');

function exporting(kind: ExportSelection['kind']): Command {
  return onDatabase({
    role: 'network_operate',
    json,
    options: {
      ...(kind === 'brands' && {
        partner: optional('ID', partnerId, 'only brands of this partner; without it, all brands'),
      }),
    },
    run: async ({ store, values, output }) => {
      const { partner } = values as { partner?: string };
      if (partner !== undefined) await requirePartner(store, partner);
      using progress = createProgress(process.stderr);
      let written = 0;
      try {
        await store.exportRecords({ kind, partnerId: partner }, async (lines) => {
          written += lines.length;
          // A terminal shows the lines themselves.
          if (!process.stdout.isTTY) progress.done(Math.round(written / 1e6), 'MB written');
          await output.write(shownJson(lines));
        });
      } catch (error) {
        progress.clear();
        // A file with only some of the records looks complete.
        if (written > 0) output.remark('The output is incomplete. Delete it, and export again.');
        throw error;
      }
      if (written === 0) remarkNothing(output, partner === undefined ? kind : `brands of partner ${partner}`);
    },
  });
}

export const exportBrands = exporting('brands');
export const exportBalances = exporting('balances');
export const exportGrants = exporting('grants');
export const exportErasures = exporting('erasures');

export const exportPartners = onDatabase({
  json,
  run: async ({ store, output }) => {
    const partners = await store.partnersWithKeys();
    if (partners.length === 0) remarkNothing(output, 'partners');
    for (const partner of partners)
      await output.write(`${jsonText({ environment: store.environment, ...partner })}\n`);
  },
});

export const importPartners = changing('partners import', {
  arguments: [{ name: 'FILE', help: 'output of "partners export", or - for standard input' }],
  options: { 'dry-run': flag('report what would be written, and write nothing') },
  run: async ({ store, values: { 'dry-run': isDryRun }, words: [file = ''], output, by }) => {
    const remedy = 'FILE must be the output of "partners export" in the same environment.';
    const read = (value: unknown) => readPartner(value, store.environment);
    const partners = await readWholeFile(file, output, read, remedy);
    const counts = await explainConflict(
      'Nothing was written: the database, or the file itself, has a key of this file with another id or partner.',
      store.writePartnersWithKeys(partners, by, isDryRun ? 'try' : 'keep'),
    );
    const total = { partners: partners.length, keys: partners.flatMap(({ keys }) => keys).length };
    return { value: { ...total, ...counts }, text: textOf(counts, isDryRun ? 'would be ' : '') };
  },
});

const unwidened = 'other scopes or a later expiry, which a stored key never gets. --json lists them.';

function textOf({ created, changed, unchanged, not_applied: kept }: MoveCounts, mood: string): string {
  const these = ({ partners, keys }: MovedCounts) =>
    `${counted(partners, 'partner')} and ${counted(keys, 'key')}`;
  return (
    `${these(created)} ${mood}created, ${these(changed)} ${mood}changed. ` +
    `${these(unchanged)} ${mood === '' ? 'were' : 'would stay'} unchanged.` +
    (kept.length === 0 ? '' : ` Not applied to ${counted(kept.length, 'key')}: ${unwidened}`)
  );
}

/** Repeats the erasures of another database: after a restore, and after a move. */
export const importErasures = changing('import erasures', {
  ifFailed: 'Assume that nothing was erased until this command succeeds.',
  arguments: [{ name: 'FILE', help: 'output of "export erasures", or - for standard input' }],
  run: async ({ store, words: [file = ''], output, by }) => {
    const remedy = 'FILE must be the output of "export erasures".';
    const customers = await readWholeFile(file, output, readErasure, remedy);
    const counts = await store.importErasures(customers, by);
    const { erased, balances, grants } = counts;
    const deleted = `${counted(balances, 'balance')} and ${counted(grants, 'grant')}`;
    return {
      value: { read: customers.length, ...counts },
      text: `${customers.length} read, ${counted(erased, 'customer')} erased: deleted ${deleted}.`,
    };
  },
});

/** Reads all lines of JSON Lines into memory. Reports rejected lines, and fails if there is one. */
async function readWholeFile<Record>(
  file: string,
  output: Output,
  read: (value: unknown) => { readonly record: Record; readonly rejections: readonly Rejection[] },
  /** What FILE must be. */
  remedy: string,
): Promise<Record[]> {
  const records: Record[] = [];
  let rejected = 0;
  for await (const readings of readJsonLines(bytesOf(file))) {
    for (const reading of readings) {
      const { record, rejections } =
        'rejections' in reading ? { ...reading, record: undefined } : read(reading.value);
      if (rejections.length === 0) records.push(record!);
      else if (++rejected <= ingestBounds.importShownLines)
        remarkErrors(output, '', reading.line, rejections);
    }
  }
  if (rejected === 0) return records;
  throw new OperatorError(`Nothing was written: ${counted(rejected, 'line')} rejected. ${remedy}`);
}

/** An empty export may come from the wrong database, so the operator is warned. */
function remarkNothing(output: Output, what: string): void {
  output.remark(`This database has no ${what}, so nothing was printed. Check --database and DATABASE_URL.`);
}

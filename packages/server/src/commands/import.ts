import { createReadStream } from 'node:fs';
import { lengths } from '@partner-network/contract/limits';
import { bounds } from '../bounds.ts';
import { type Command, type Output, tell } from '../command-line/command.ts';
import { flag, plainText, required } from '../command-line/options.ts';
import { type ImportReport, importRecords } from '../ingest/import.ts';
import { readJsonLines } from '../ingest/json-lines.ts';
import { OperatorError } from '../operator-error.ts';
import type { ImportKind } from '../store/port.ts';
import { onDatabase, requirePartner } from './database.ts';

const partnerId = plainText(lengths.partnerId);

function importing(kind: ImportKind): Command {
  return onDatabase({
    arguments: [{ name: 'FILE', help: 'JSON Lines, one record a line; - is standard input' }],
    options: {
      ...(kind === 'brands' && { partner: required('ID', partnerId, 'whose brands they are') }),
      'skip-invalid': flag('write the good lines even when some are rejected'),
      'dry-run': flag('check everything, write nothing'),
    },
    run: async (store, values, [file = ''], output) => {
      const { partner = '' } = values as { partner?: string };
      if (kind === 'brands') await requirePartner(store, partner);
      const report = await importRecords(store, readJsonLines(bytesOf(file)), {
        kind,
        partnerId: partner,
        skipInvalid: values['skip-invalid'],
        dryRun: values['dry-run'],
      });
      if (!values.json) remarkRejected(output, report);
      tell(output, values.json, report, () => summaryOf(report, values['dry-run']));
      if (report.rejected_count > 0 && !values['skip-invalid']) {
        throw new OperatorError('Nothing was written: fix the rejected lines, or pass --skip-invalid.');
      }
    },
  });
}

export const importBrands = importing('brands');
export const importBalances = importing('balances');
export const importGrants = importing('grants');

async function* bytesOf(file: string): AsyncGenerator<Uint8Array> {
  try {
    yield* file === '-' ? process.stdin : createReadStream(file, { highWaterMark: bounds.importReadBytes });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    const known: Record<string, string> = { ENOENT: 'there is no such file', EISDIR: 'it is a folder' };
    throw new OperatorError(`Cannot read ${file}: ${known[code] ?? message}.`, { cause: error });
  }
}

function remarkRejected(output: Output, { rejected, rejected_count }: ImportReport): void {
  for (const { line, errors } of rejected.slice(0, bounds.importShownLines)) {
    for (const { field, code, detail } of errors) {
      output.remark(`line ${line}: ${field === undefined ? '' : `${field}: `}${code}: ${detail}`);
    }
  }
  const more = rejected_count - bounds.importShownLines;
  if (more > 0) output.remark(`… and ${more} more rejected lines.`);
}

function summaryOf({ read, written, unchanged, rejected_count }: ImportReport, isDryRun: boolean): string {
  const outcome = isDryRun ? 'would be written' : 'written';
  return `${read} read, ${written} ${outcome}, ${unchanged} unchanged, ${rejected_count} rejected.`;
}

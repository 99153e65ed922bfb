/** What an import tells a person. */
import { ingestBounds } from '../../bounds/ingest.ts';
import type { Output } from '../../command-line/output.ts';
import type { ImportFault } from '../../ingest/faults.ts';
import type { FaultyLines } from '../../ingest/faulty-lines.ts';
import type { ImportReport } from '../../ingest/import.ts';

export function remarkFaults(
  output: Output,
  prefix: '' | 'warning: ',
  line: number,
  errors: readonly ImportFault[],
): void {
  for (const { field, code, detail } of errors) {
    output.remark(`${prefix}line ${line}: ${field === undefined ? '' : `${field}: `}${code}: ${detail}`);
  }
}

export function remarkRejected(output: Output, { rejected, rejected_count }: ImportReport): void {
  for (const { line, errors } of rejected.slice(0, ingestBounds.importShownLines)) {
    remarkFaults(output, '', line, errors);
  }
  const more = rejected_count - ingestBounds.importShownLines;
  if (more > 0) output.remark(`… and ${more} more rejected lines.`);
}

/** Whatever is not named .csv is read as JSON Lines, and so is standard input. */
export function remarkFormat(output: Output, { read, rejected, rejected_count }: ImportReport): void {
  const isNoJson = rejected[0]?.errors[0]?.code === 'INVALID_JSON' && rejected_count === read;
  if (isNoJson) output.remark('If this is CSV, pass --format csv.');
}

export function summaryOf(report: ImportReport, isDryRun: boolean): string {
  const { read, written, unchanged, rejected_count } = report;
  const outcome = isDryRun ? 'would be written' : 'written';
  return `${read} read, ${written} ${outcome}, ${unchanged} unchanged, ${rejected_count} rejected.`;
}

/** On standard error, also with --json, whose document has a fixed shape. */
export function remarkWarnings(output: Output, { first, count }: FaultyLines): void {
  for (const { line, errors } of first) remarkFaults(output, 'warning: ', line, errors);
  const more = count() - first.length;
  if (more > 0) output.remark(`… and ${more} more lines with warnings.`);
}

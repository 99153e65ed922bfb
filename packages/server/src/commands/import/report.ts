/** The messages of an import on a terminal. */
import { ingestBounds } from '../../bounds/ingest.ts';
import type { Output } from '../../command-line/output.ts';
import type { FaultyLines, ImportFault } from '../../ingest/faults.ts';
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

/** Suggests --format csv if no line is JSON: only files named .csv are read as CSV. */
export function remarkFormat(output: Output, { read, rejected, rejected_count }: ImportReport): void {
  const isNoJson = rejected[0]?.errors[0]?.code === 'INVALID_JSON' && rejected_count === read;
  if (isNoJson) output.remark('If this is CSV, pass --format csv.');
}

export function summaryOf(report: ImportReport, isDryRun: boolean): string {
  const { read, written, unchanged, rejected_count } = report;
  const outcome = isDryRun ? 'would be written' : 'written';
  return `${read} read, ${written} ${outcome}, ${unchanged} unchanged, ${rejected_count} rejected.`;
}

/** Printed on standard error even with --json, whose document has no place for warnings. */
export function remarkWarnings(output: Output, { first, count }: FaultyLines): void {
  for (const { line, errors } of first) remarkFaults(output, 'warning: ', line, errors);
  const more = count() - first.length;
  if (more > 0) output.remark(`… and ${more} more lines with warnings.`);
}

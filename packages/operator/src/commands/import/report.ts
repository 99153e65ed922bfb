/** The messages of an import on a terminal. */

import type { Output, Report } from '@partner-network/common/command-line/command';
import type { ImportReport } from '../../ingest/import.ts';
import { type Rejection, shownId, withHint } from '../../ingest/rejections.ts';

export function remarkErrors(
  output: Output,
  prefix: '' | 'warning: ',
  line: number,
  errors: readonly Rejection[],
  id?: unknown,
): void {
  const isNamed = typeof id === 'string' && id !== '';
  const where = `${prefix}line ${line}${isNamed ? ` (id ${shownId(id) ?? '[personal data]'})` : ''}`;
  for (const { field, code, detail } of errors.map(withHint)) {
    output.remark(`${where}: ${field === undefined ? '' : `${field}: `}${code}: ${detail}`);
  }
}

/** Prints the first lines, and how many more there are: "… and 3 more rejected lines." */
export function remarkLines(
  output: Output,
  prefix: '' | 'warning: ',
  { rejected: lines, rejected_count: count }: Pick<ImportReport, 'rejected' | 'rejected_count'>,
): void {
  for (const { line, errors } of lines) remarkErrors(output, prefix, line, errors);
  const what = prefix === '' ? 'rejected lines' : 'lines with warnings';
  if (count > lines.length) output.remark(`… and ${count - lines.length} more ${what}.`);
}

/** Suggests --format csv if no line is JSON: only files named .csv are read as CSV. */
export function remarkFormat(output: Output, { read, rejected, rejected_count }: ImportReport): void {
  const hasNoJson =
    read > 0 && rejected_count === read && rejected.every(({ errors }) => errors[0]?.code === 'INVALID_JSON');
  if (hasNoJson) output.remark('No line is valid JSON. If the file is CSV, pass --format csv.');
}

/** Says why little was written if more than half of the lines are stale. */
export function remarkStale(output: Output, { read, stale }: ImportReport, overwrites: boolean): void {
  if (stale * 2 <= read) return;
  const why = overwrites
    ? 'another line of the file is newer, or the customer was erased.'
    : 'the database, or another line of the file, is newer. ' +
      'If the stored records are wrong, pass --overwrite.';
  output.remark(`${stale} of ${read} lines are stale: ${why}`);
}

export function reportOf(report: ImportReport, isDryRun = false): Report {
  const { read, written, unchanged, stale, deleted, rejected_count } = report;
  const would = isDryRun ? 'would be ' : '';
  const rejected = report.rejected.map(({ line, errors }) => ({ line, errors: errors.map(withHint) }));
  return {
    value: { ...report, rejected },
    text:
      `${read} read, ${written} ${would}written, ${unchanged} unchanged, ${stale} stale, ` +
      `${deleted} ${would}deleted, ${rejected_count} rejected.`,
  };
}

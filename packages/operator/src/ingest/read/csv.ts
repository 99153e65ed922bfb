import { isPlainInteger } from '@partner-network/common/text';
import type { RecordSchema } from '@partner-network/contract/records';
import { InexactNumber } from '../json.ts';
import type { Reading } from '../record-check.ts';
import { csvRejection, type Rejection } from '../rejections.ts';
import { type Column, columnOf, rejectionsOfHeader } from './csv-header.ts';
import { type CsvRow, createRowReader } from './csv-rows.ts';
import { readLines } from './lines.ts';

/** Reads CSV: a header that names the fields, then one record per row. */
export async function* readCsv(
  chunks: AsyncIterable<Uint8Array>,
  schema: RecordSchema,
): AsyncGenerator<readonly Reading[]> {
  const rows = createRowReader();
  const readRow = createRecordReader(schema);
  for await (const lines of readLines(chunks)) {
    const readings: Reading[] = [];
    for (const line of lines) {
      const row = rows.add(line);
      const reading = row && readRow(row);
      if (reading !== undefined) readings.push(reading);
      if (reading !== undefined && 'cutAt' in reading) return yield readings;
    }
    yield readings;
  }
  const unfinished = rows.end();
  if (unfinished !== undefined) yield [readRow(unfinished)!];
}

/** Turns rows into readings. Returns undefined for the header and for blank rows. */
function createRecordReader(schema: RecordSchema): (row: CsvRow) => Reading | undefined {
  let header: readonly string[] | undefined;
  let columns: readonly Column[] = [];
  return (row) => {
    const { line, text, cells, flaw } = row;
    // Spreadsheets also write rows of empty cells.
    if (flaw === undefined && cells.every((cell) => cell.trim() === '')) return undefined;
    if (header === undefined) {
      const rejections = rejectionsOfHeader(row, schema);
      if (rejections.length > 0) return { line, text, rejections, cutAt: 'header' };
      header = cells;
      columns = header.map((name) => columnOf(name, schema)!);
      return undefined;
    }
    const rejection = rejectionOf(row, header);
    if (rejection === undefined) return { line, text, value: recordOf(columns, cells) };
    const isCut = row.isMultiline || flaw === 'tooLong';
    return isCut
      ? { line, text, rejections: [rejection], cutAt: 'record' }
      : { line, text, rejections: [rejection] };
  };
}

function rejectionOf({ flaw, cells, isMultiline }: CsvRow, header: readonly string[]): Rejection | undefined {
  if (flaw !== undefined) return csvRejection(isMultiline && flaw === 'strayQuote' ? 'openQuote' : flaw);
  if (cells.length !== header.length) {
    const counts = { values: cells.length, names: header.length };
    return csvRejection(isMultiline ? 'openQuote' : 'count', counts);
  }
  return cells.every((cell, index) => cell === header[index]) ? csvRejection('secondHeader') : undefined;
}

/** An empty cell means that the field is absent; a map is absent if all of its cells are empty. */
function recordOf(columns: readonly Column[], cells: readonly string[]): Record<string, unknown> {
  const record: Record<string, unknown> = {};
  for (const [index, { field, key, isInteger }] of columns.entries()) {
    const cell = cells[index]!;
    if (cell === '') continue;
    if (key === undefined) record[field] = isInteger ? integerOf(cell) : cell;
    else {
      // Without a prototype, so that any key is allowed.
      record[field] ??= Object.create(null);
      (record[field] as Record<string, string>)[key] = cell;
    }
  }
  return record;
}

/** Follows the rules of JSON Lines: plain digits that JavaScript holds exactly, or an InexactNumber. */
function integerOf(cell: string): number | InexactNumber {
  const number = isPlainInteger(cell) ? Number(cell) : Number.NaN;
  return Number.isSafeInteger(number) ? number : new InexactNumber(cell);
}

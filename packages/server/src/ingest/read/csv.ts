import { isUtf8 } from 'node:buffer';
import type { RecordSchema } from '@partner-network/contract/records';
import { isPlainInteger } from '../../lib/text.ts';
import type { ImportFault } from '../faults.ts';
import type { Reading } from '../import.ts';
import { type CsvFlaw, csvFault } from './csv-faults.ts';
import { type Column, columnOf, faultsOfHeader, isSeparatedOtherwise } from './csv-header.ts';
import { type CsvRecord, cutRecords } from './csv-records.ts';
import { InexactNumber } from './json.ts';

const quote = '"';

type Cells = readonly string[];

/** The cells of each record of these bytes; throws where quotes are not as they should be. */
type Parse = (bytes: Buffer) => Cells[];

/** CSV: a header line that names the fields, and one record a line, or several where quotes go on. */
export async function* readCsv(
  chunks: AsyncIterable<Uint8Array>,
  schema: RecordSchema,
): AsyncGenerator<readonly Reading[]> {
  const parse = await loadParser();
  let header: Cells | undefined;
  let columns: readonly Column[] = [];

  for await (const piece of cutRecords(chunks)) {
    if ('endlessLine' in piece) {
      const faults = [csvFault(piece.isQuoted ? 'openQuote' : 'tooLong')];
      return yield [{ line: piece.endlessLine, faults, cutAt: header === undefined ? 'header' : 'record' }];
    }
    const rows = cellsOf(piece.bytes, piece.records, parse);
    const readings: Reading[] = [];
    for (const [index, { start, end, line, lines }] of piece.records.entries()) {
      const cells = rows[index]!;
      if (isBlank(cells)) continue;
      if (header === undefined) {
        const faults = faultsOfFirst(cells, piece.bytes.toString('utf8', start, end), schema);
        if (faults.length > 0) return yield [{ line, faults, cutAt: 'header' }];
        header = cells as Cells;
        columns = header.map((name) => columnOf(name, schema)!);
        continue;
      }
      const fault = faultOfCells(cells, header, lines);
      if (fault === undefined) readings.push({ line, value: recordOf(columns, cells as Cells) });
      // Quotes that were not meant to go on over lines have taken other records in.
      else if (lines > 1) return yield [...readings, { line, faults: [fault], cutAt: 'record' }];
      else readings.push({ line, faults: [fault] });
    }
    yield readings;
  }
}

/** Spreadsheets write rows of empty cells, too. */
function isBlank(cells: Cells | CsvFlaw): boolean {
  return typeof cells !== 'string' && cells.every((cell) => cell.trim() === '');
}

function faultsOfFirst(cells: Cells | CsvFlaw, line: string, schema: RecordSchema): ImportFault[] {
  if (isSeparatedOtherwise(line, schema)) return [csvFault('separator')];
  return typeof cells === 'string' ? [csvFault(cells)] : faultsOfHeader(cells, schema);
}

function faultOfCells(cells: Cells | CsvFlaw, header: Cells, lines: number): ImportFault | undefined {
  if (typeof cells === 'string') return csvFault(cells === 'strayQuote' && lines > 1 ? 'openQuote' : cells);
  if (cells.length !== header.length) {
    const counts = { values: cells.length, names: header.length };
    return csvFault(lines > 1 ? 'openQuote' : 'count', counts);
  }
  return cells.every((cell, index) => cell === header[index]) ? csvFault('secondHeader') : undefined;
}

/** Loaded when it is used: most imports are JSON Lines. */
async function loadParser(): Promise<Parse> {
  const { parse } = await import('csv-parse/sync');
  // Columns are counted here, where the line is known.
  const options = { record_delimiter: ['\r\n', '\n'], relax_column_count: true, skip_empty_lines: true };
  return (bytes) => (bytes.includes(quote) ? parse(bytes, options) : splitPlain(bytes));
}

/** Without a quote, cells are what stands between commas: five times as fast as the parser finds them. */
function splitPlain(bytes: Buffer): Cells[] {
  const lines = bytes.toString().split(/\r?\n/);
  return lines.filter((line) => line !== '').map((line) => line.split(','));
}

/** All at once, as a rule; one by one where something is wrong, and what that is for what cannot be read. */
function cellsOf(bytes: Buffer, records: readonly CsvRecord[], parse: Parse): readonly (Cells | CsvFlaw)[] {
  const all = tryParse(bytes.subarray(records[0]!.start, records.at(-1)!.end), parse);
  if (typeof all !== 'string' && all.length === records.length) return all;
  return records.map(({ start, end }) => {
    const alone = tryParse(bytes.subarray(start, end), parse);
    if (typeof alone === 'string') return alone;
    return alone.length === 1 ? alone[0]! : 'strayQuote';
  });
}

function tryParse(bytes: Buffer, parse: Parse): Cells[] | CsvFlaw {
  if (!isUtf8(bytes) || bytes.includes(0)) return 'encoding';
  try {
    return parse(bytes);
  } catch {
    return 'strayQuote';
  }
}

/** An empty cell says nothing; a map of which all cells are empty is not there. */
function recordOf(columns: readonly Column[], cells: Cells): Record<string, unknown> {
  const record: Record<string, unknown> = {};
  for (const [index, { field, key, isInteger }] of columns.entries()) {
    const cell = cells[index]!;
    if (cell === '') continue;
    if (key === undefined) record[field] = isInteger ? integerOf(cell) : cell;
    else {
      // Without a prototype, so that a key may have any name.
      record[field] ??= Object.create(null);
      (record[field] as Record<string, string>)[key] = cell;
    }
  }
  return record;
}

/** As JSON Lines reads it: plain digits that JavaScript holds exactly, or what was written instead. */
function integerOf(cell: string): number | InexactNumber {
  const number = isPlainInteger(cell) ? Number(cell) : Number.NaN;
  return Number.isSafeInteger(number) ? number : new InexactNumber(cell);
}

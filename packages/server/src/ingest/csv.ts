import { isUtf8 } from 'node:buffer';
import { bounds } from '../bounds.ts';
import { isPlainInteger } from '../text.ts';
import type { RecordSchema } from './check.ts';
import { type CsvRecord, cutRecords } from './csv-records.ts';
import { type ImportFault, importFault, unknownField } from './faults.ts';
import type { Reading } from './import.ts';
import { InexactNumber } from './json.ts';

const quote = '"';

type Cells = readonly string[];

/** The cells of each record of these bytes; throws where quotes are not as they should be. */
type Parse = (bytes: Buffer) => Cells[];

/** Where a cell goes: into a field, or under a key of a field that is a map. */
interface Column {
  readonly field: string;
  readonly key?: string;
  readonly isInteger: boolean;
}

/** CSV: a header line that names the fields, and one record a line, or several where quotes go on. */
export async function* readCsv(
  chunks: AsyncIterable<Uint8Array>,
  schema: RecordSchema,
): AsyncGenerator<readonly Reading[]> {
  const parse = await loadParser();
  let header: Cells | undefined;
  let columns: readonly Column[] = [];

  for await (const piece of cutRecords(chunks)) {
    if ('endlessLine' in piece) return yield [unreadable(piece.endlessLine, true)];
    const rows = cellsOf(piece.bytes, piece.records, parse);
    const readings: Reading[] = [];
    for (const [index, { line, lines }] of piece.records.entries()) {
      const cells = rows[index];
      if (cells?.length === 1 && cells[0]!.trim() === '') continue;
      if (header === undefined) {
        const faults = cells === undefined ? [importFault('INVALID_CSV')] : faultsOfHeader(cells, schema);
        if (faults.length > 0) return yield [{ line, faults, isLast: true }];
        header = cells!;
        columns = header.map((name) => columnOf(name, schema)!);
      } else if (cells === undefined || cells.length !== header.length || isSame(cells, header)) {
        // Quotes that were not meant to go on over lines have taken other records in.
        readings.push(unreadable(line, lines > 1));
        if (lines > 1) return yield readings;
      } else {
        readings.push({ line, value: recordOf(columns, cells) });
      }
    }
    yield readings;
  }
}

function unreadable(line: number, isLast: boolean): Reading {
  return { line, faults: [importFault('INVALID_CSV')], isLast };
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

/** All at once, as a rule; one by one where something is wrong, and undefined for what cannot be read. */
function cellsOf(bytes: Buffer, records: readonly CsvRecord[], parse: Parse): readonly (Cells | undefined)[] {
  const all = tryParse(bytes.subarray(records[0]!.start, records.at(-1)!.end), parse);
  if (all?.length === records.length) return all;
  return records.map(({ start, end }) => {
    const alone = tryParse(bytes.subarray(start, end), parse);
    return alone?.length === 1 ? alone[0] : undefined;
  });
}

function tryParse(bytes: Buffer, parse: Parse): Cells[] | undefined {
  if (!isUtf8(bytes) || bytes.includes(0)) return undefined;
  try {
    return parse(bytes);
  } catch {
    return undefined;
  }
}

function isSame(cells: Cells, header: Cells): boolean {
  return cells.every((cell, index) => cell === header[index]);
}

/** All that is wrong with the header: nothing under it can be understood then. */
function faultsOfHeader(header: Cells, schema: RecordSchema): ImportFault[] {
  // Every record has two fields at least: these are separated by something else than commas.
  if (header.length === 1 || header.includes('')) return [importFault('INVALID_CSV')];
  const names = columnNames(schema);
  const given = new Set<string>();
  const faults = header.flatMap((name) => {
    const isRepeated = given.has(name);
    given.add(name);
    if (isRepeated) return [importFault('DUPLICATE_KEY', name)];
    if (columnOf(name, schema) !== undefined) return [];
    return [unknownField(name, names)];
  });
  const missing = schema.required.filter((field) => !given.has(field));
  const all = [...missing.map((field) => importFault('MISSING_REQUIRED_FIELD', field)), ...faults];
  return all.slice(0, bounds.importFaultsOfLine);
}

function columnNames({ properties }: RecordSchema): string[] {
  return Object.entries(properties).map(([field, { type }]) => (type === 'object' ? `${field}.KEY` : field));
}

function columnOf(name: string, { properties }: RecordSchema): Column | undefined {
  const dot = name.indexOf('.');
  const field = dot === -1 ? name : name.slice(0, dot);
  const type = Object.hasOwn(properties, field) ? properties[field]!.type : undefined;
  if (type === undefined || (type === 'object') !== (dot !== -1)) return undefined;
  const isInteger = type === 'integer';
  return dot === -1 ? { field, isInteger } : { field, key: name.slice(dot + 1), isInteger };
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

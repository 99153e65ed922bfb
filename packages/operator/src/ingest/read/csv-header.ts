/** The header of a CSV file: its columns and its faults. */

import { ingestBounds } from '@partner-network/common/bounds/ingest';
import { isCleanText } from '@partner-network/common/text';
import type { RecordSchema } from '@partner-network/contract/records';
import { csvFault, type ImportFault, importFault, unknownField } from '../faults.ts';
import type { CsvRow } from './csv-rows.ts';

/** Where the cells of a column go: into a field, or under a key of a field that is a map. */
export interface Column {
  readonly field: string;
  readonly key?: string;
  readonly isInteger: boolean;
}

export function columnOf(name: string, { properties }: RecordSchema): Column | undefined {
  const dot = name.indexOf('.');
  const field = dot === -1 ? name : name.slice(0, dot);
  const type = Object.hasOwn(properties, field) ? properties[field]!.type : undefined;
  if (type === undefined || (type === 'object') !== (dot !== -1)) return undefined;
  const isInteger = type === 'integer';
  return dot === -1 ? { field, isInteger } : { field, key: name.slice(dot + 1), isInteger };
}

/** Lists every fault of the header. With a faulty header no row can be understood. */
export function faultsOfHeader({ text, cells: header, flaw }: CsvRow, schema: RecordSchema): ImportFault[] {
  const isKnown = (name: string) => columnOf(name, schema) !== undefined;
  // Some spreadsheets separate by semicolons or tabs.
  const otherNames = text.replaceAll('"', '').trim().split(/[;\t]/);
  if (otherNames.length > 1 && otherNames.some(isKnown)) return [csvFault('separator')];
  if (flaw !== undefined) return [csvFault(flaw)];
  // A file without a header starts with a record; a file whose lines end in CR is a single line.
  if (!header.some(isKnown) || !header.every(isCleanText))
    return [csvFault('noHeader', { names: schema.required.join(',') })];
  const nameless = header.indexOf('');
  if (nameless !== -1) return [csvFault('nameless', { column: nameless + 1 })];
  const fields = Object.entries(schema.properties);
  const names = fields.map(([field, { type }]) => (type === 'object' ? `${field}.KEY` : field));
  const given = new Set<string>();
  const faults = header.flatMap((name, index) => {
    const isRepeated = given.has(name);
    given.add(name);
    const shown = isKnown(name) || looksLikeName.test(name) ? name : `column ${index + 1}`;
    if (isRepeated) return [importFault('DUPLICATE_KEY', shown)];
    return isKnown(name) ? [] : [unknownField(name, names, shown)];
  });
  // A line that deletes has only an id and a time.
  const missing = given.has('deleted_at') ? [] : schema.required.filter((field) => !given.has(field));
  const all = [...missing.map((field) => importFault('MISSING_REQUIRED_FIELD', field)), ...faults];
  return all.slice(0, ingestBounds.importFaultsOfLine);
}

/** A text that does not look like a field's name may be a value: only its column number is reported. */
const looksLikeName = /^[A-Za-z_][A-Za-z0-9_. -]{0,63}$/;

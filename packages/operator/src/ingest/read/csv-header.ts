/** The header of a CSV file: its columns and its rejections. */

import { ingestBounds } from '@partner-network/common/bounds/operator';
import { isCleanText } from '@partner-network/common/text';
import type { RecordSchema } from '@partner-network/contract/records';
import { csvRejection, type Rejection, rejection, unknownField } from '../rejections.ts';
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

/** Lists every rejection of the header. With a rejected header no row can be understood. */
export function rejectionsOfHeader({ text, cells: header, flaw }: CsvRow, schema: RecordSchema): Rejection[] {
  const isKnown = (name: string) => columnOf(name, schema) !== undefined;
  // Some spreadsheets separate by semicolons or tabs.
  const otherNames = text.replaceAll('"', '').trim().split(/[;\t]/);
  if (otherNames.length > 1 && otherNames.some(isKnown)) return [csvRejection('separator')];
  if (flaw !== undefined) return [csvRejection(flaw)];
  // A file without a header starts with a record; a file whose lines end in CR is a single line.
  if (!header.some(isKnown) || !header.every(isCleanText))
    return [csvRejection('noHeader', { names: schema.required.join(',') })];
  const nameless = header.indexOf('');
  if (nameless !== -1) return [csvRejection('nameless', { column: nameless + 1 })];
  const fields = Object.entries(schema.properties);
  const names = fields.map(([field, { type }]) => (type === 'object' ? `${field}.KEY` : field));
  const given = new Set<string>();
  const rejections = header.flatMap((name, index) => {
    const isRepeated = given.has(name);
    given.add(name);
    const shown = isKnown(name) || looksLikeName.test(name) ? name : `column ${index + 1}`;
    if (isRepeated) return [rejection('DUPLICATE_KEY', shown)];
    return isKnown(name) ? [] : [unknownField(name, names, shown)];
  });
  // A line that deletes has only an id and a time.
  const missing = given.has('deleted_at') ? [] : schema.required.filter((field) => !given.has(field));
  const all = [...missing.map((field) => rejection('MISSING_REQUIRED_FIELD', field)), ...rejections];
  return all.slice(0, ingestBounds.importRejectionsOfLine);
}

/** A text that does not look like a field's name may be a value: only its column number is reported. */
const looksLikeName = /^[A-Za-z_][A-Za-z0-9_. -]{0,63}$/;

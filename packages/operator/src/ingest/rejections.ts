/** Why an import does not take a line: codes and their sentences. */

import { ingestBounds } from '@partner-network/common/bounds/operator';
import { echo, suggest } from '@partner-network/common/text';
import { echoedCharacters } from '@partner-network/contract/limits';
import { fillIn } from '@partner-network/contract/sentence';
import type { RefusedLine } from '@partner-network/store/port';
import { findPersonalKey } from './personal-data.ts';

/** Brands and balances have the field deleted_at. */
const undeletable = 'Remove this field: a line cannot delete a grant. Set the status to REVOKED instead.';

/** Names in braces, such as {max}, are filled in. */
export const importSentences = {
  INVALID_JSON: `Write one JSON object per line, in UTF-8, of at most ${ingestBounds.importLineBytes} bytes, for example with "jq -c".`,
  INVALID_CSV: 'Correct the CSV: {what}.',
  DUPLICATE_KEY: 'Write each key only once.',
  UNKNOWN_FIELD: 'Remove this field{renaming}: the record has no field with this name.',
  MISSING_REQUIRED_FIELD: 'Add this field: it is required.',
  EXPECTED_STRING: 'Set this field to a string.',
  EXPECTED_INTEGER: 'Set this field to a whole number, written in plain digits.',
  EXPECTED_OBJECT: 'Write a JSON object here.',
  VALUE_EMPTY: 'Set this field to a value, or leave it out if it is optional.',
  VALUE_TOO_LONG: 'Shorten this value to at most {max}.',
  VALUE_TOO_LOW: 'Set this field to at least {min}.',
  VALUE_TOO_HIGH: 'Set this field to at most {max}.',
  INVALID_ENUM_VALUE: 'Set this field to {allowed}.',
  INVALID_CHARACTER: 'Remove control characters, for example line breaks and tabs, and unpaired surrogates.',
  INVALID_COLOR: 'Write the color as # and six hexadecimal digits, for example #1A2B3C.',
  INVALID_URL:
    'Set this field to an http or https URL of {min} to {max} characters, without user or password.',
  INVALID_TIME: 'Correct the time: {what}.',
  TOO_MANY_KEYS: 'Remove keys: at most {max} are allowed.',
  PERSONAL_DATA: 'Remove {what}.',
  UNKNOWN_PARTNER: 'Create this partner first, or correct its id.',
  IMMUTABLE_FIELD: 'Correct this field: {what}.',
  CUSTOMER_ERASED:
    'Add updated_at to this line, or leave the line out: the customer was erased. Only a time after the erasure shows that the record is newer.',
} as const;

export type ImportCode = keyof typeof importSentences;

/** What to add for the operator of a command. The administrative API leaves it out. */
export const importHints: Readonly<Partial<Record<ImportCode, string>>> = {
  EXPECTED_OBJECT: 'Each line is one record.',
  PERSONAL_DATA: 'If it is not personal data, import with --personal-data allow.',
};

export interface Rejection {
  readonly field?: string;
  readonly code: ImportCode;
  readonly detail: string;
  readonly hint?: string;
}

/** A rejection as a command prints it: the hint is part of the detail. */
export function withHint({ hint, ...rejection }: Rejection): Omit<Rejection, 'hint'> {
  return hint === undefined ? rejection : { ...rejection, detail: `${rejection.detail} ${hint}` };
}

type Facts = Readonly<Record<string, string | number>>;

/** A field, an entry of a map as `metadata.KEY`, or the path of keys to it. */
type FieldName = string | readonly string[];

/** Names a field but never repeats a value, which may be a secret, an amount or personal data. */
export function rejection(code: ImportCode, field?: FieldName, facts: Facts = {}): Rejection {
  const hint = importHints[code];
  return {
    ...(field !== undefined && { field: nameOf(field) }),
    code,
    detail: fillIn(importSentences[code], facts),
    ...(hint !== undefined && { hint }),
  };
}

/** A rejection for a field that the record does not have. `shown` is the name to report. */
export function unknownField(name: string, known: readonly string[], shown = name): Rejection {
  if (name === 'deleted_at') return { ...rejection('UNKNOWN_FIELD', shown), detail: undeletable };
  const nearest = suggest(echo(name, echoedCharacters), known);
  const renaming = nearest === undefined ? '' : ` or rename it to ${nearest}`;
  return rejection('UNKNOWN_FIELD', shown, { renaming });
}

/** A field's name without its parts from the first part that looks like personal data. */
function nameOf(field: FieldName): string {
  // Of a text, only the first dot of metadata.KEY separates parts.
  const parts = typeof field === 'string' ? field.split(/(?<=^metadata)\./) : field;
  const firstPersonal = parts.findIndex((part) => findPersonalKey(part) !== undefined);
  if (firstPersonal === 0) return '[personal data]';
  const innocent = firstPersonal === -1 ? parts : parts.slice(0, firstPersonal);
  return echo(innocent.join('.'), echoedCharacters);
}

/** The id of a rejected line, unless it is not a text, or looks like personal data. */
export function shownId(id: unknown): string | undefined {
  if (typeof id !== 'string' || id === '' || findPersonalKey(id) !== undefined) return undefined;
  return echo(id, echoedCharacters);
}

/** The texts that fill {what} of INVALID_TIME. */
const timeFlaws = {
  format: 'write it in UTC in the format of RFC 3339, for example 2026-01-31T08:00:00.000Z',
  ahead: `it is more than ${ingestBounds.importClockAheadMs / 60_000} minutes ahead of the clock of this machine`,
  order: 'updated_at must not be before created_at',
  past: 'it must be in the future',
  inherited:
    'the new key would have expired already, because the old key expires before its creation: give an expiry',
} as const;

export function timeRejection(flaw: keyof typeof timeFlaws, field: string): Rejection {
  return rejection('INVALID_TIME', field, { what: timeFlaws[flaw] });
}

/** The texts that fill {what} of IMMUTABLE_FIELD, by field. */
const immutable: Readonly<Record<string, string>> = {
  partner_id: 'the stored grant belongs to another partner, which never changes',
  expires_at:
    'an expiry can move earlier, but not later, and cannot be removed. A longer consent is a new grant',
};

export function immutableRejection(field: string, what = immutable[field] ?? ''): Rejection {
  return rejection('IMMUTABLE_FIELD', field, { what });
}

/** A new id that no address could name. */
export function dotsRejection(field: string): Rejection {
  const detail = 'Choose another id: no address can name "." and "..".';
  return { ...rejection('INVALID_CHARACTER', field), detail };
}

/** The rejections of a line that the stored records do not allow. */
export function rejectionsOfRefused({ code, field }: RefusedLine): Rejection[] {
  return [code === 'CUSTOMER_ERASED' ? rejection(code, field) : immutableRejection(field)];
}

/** A brand of a file for several partners that does not name its partner. */
export function missingPartner(): Rejection {
  const detail = 'Add this field, or name the partner of all brands with --partner.';
  return { ...rejection('MISSING_REQUIRED_FIELD', 'partner_id'), detail };
}

/** A grant line with a final status that does not name the grant to end. */
export function missingGrant(): Rejection {
  const why = 'the line ends a stored grant. Without an id it would make a new grant, which is never active';
  return { ...rejection('MISSING_REQUIRED_FIELD', 'id'), detail: `Add this field: ${why}.` };
}

/** The texts that fill {what} of INVALID_CSV. */
const csvFlaws = {
  encoding: 'it must be UTF-8 without NUL bytes',
  noHeader:
    'line 1 must be a header with the names of the fields, for example {names}, and end in LF or CRLF',
  separator: 'separate names and values by commas, not by semicolons or tabs',
  nameless: 'column {column} of the header has no name',
  count: 'this line has {values} values, but the header has {names} names',
  secondHeader: 'remove this second header',
  openQuote: 'the quote that opens here is not closed in the same record',
  strayQuote: 'put a value that contains a quote in quotes, and write the inner quote twice',
  tooLong: `a record may have at most ${ingestBounds.importLineBytes} bytes`,
} as const;

export type CsvFlaw = keyof typeof csvFlaws;

/** Never names a field: in broken CSV, a value may be where a name is expected. */
export function csvRejection(flaw: CsvFlaw, facts: Facts = {}): Rejection {
  return rejection('INVALID_CSV', undefined, { what: fillIn(csvFlaws[flaw], facts) });
}

export interface RejectedLine {
  readonly line: number;
  readonly errors: readonly Rejection[];
}

/** Counts rejected lines and keeps only the first few: every line of a file may be rejected. */
export function collectRejectedLines(limit: number = ingestBounds.importReportedLines) {
  const first: RejectedLine[] = [];
  let count = 0;
  return {
    add: (line: RejectedLine): void => {
      count += 1;
      if (first.length < limit) first.push(line);
    },
    count: () => count,
    report: () => ({ rejected_count: count, rejected: first.toSorted((one, two) => one.line - two.line) }),
  };
}

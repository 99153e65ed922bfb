import { fillIn } from '@partner-network/contract/sentence';
import { importHints, importSentences } from '../../packages/operator/src/ingest/rejections.ts';
import { code, table } from './markdown.ts';

const introduction = `# Import codes

Every code with which an import or a
[batch](../../how-to/operators/send-changes.md#handle-each-answer) rejects a line. The message says
what to do. Its numbers and names depend on the field; the table shows an example. [Import
data](../../how-to/operators/import.md#handle-rejected-lines) shows how to handle rejected lines.
`;

type Code = keyof typeof importSentences;

interface Meaning {
  readonly means: string;
  /** Fills in the example. */
  readonly facts?: Readonly<Record<string, string | number>>;
}

const meanings: Readonly<Record<Code, Meaning>> = {
  INVALID_JSON: { means: 'The line is not valid JSON or not UTF-8, or it is too long.' },
  INVALID_CSV: {
    means: 'The CSV cannot be read. The message names the cause.',
    facts: { what: 'this line has 4 values, but the header has 5 names' },
  },
  DUPLICATE_KEY: { means: 'A JSON object or a CSV header has the same key twice.' },
  UNKNOWN_FIELD: {
    means: 'The record has no field with this name.',
    facts: { renaming: ' or rename it to reference_id' },
  },
  MISSING_REQUIRED_FIELD: { means: 'A required field is absent.' },
  EXPECTED_STRING: { means: 'The value is not a string.' },
  EXPECTED_INTEGER: { means: 'The value is not a whole number, or it is not written in plain digits.' },
  EXPECTED_OBJECT: { means: 'The line or the value is not a JSON object.' },
  VALUE_EMPTY: { means: 'The value is an empty string.' },
  VALUE_TOO_LONG: {
    means:
      'The value has too many characters, counted in Unicode code points. ' +
      'Or the keys and values of `metadata` have more than 32,768 bytes in all.',
    facts: { max: '128 characters' },
  },
  VALUE_TOO_LOW: { means: 'The number is too small.', facts: { min: Number.MIN_SAFE_INTEGER } },
  VALUE_TOO_HIGH: { means: 'The number is too large.', facts: { max: Number.MAX_SAFE_INTEGER } },
  INVALID_ENUM_VALUE: {
    means: 'The value is not one of the allowed values. Case matters.',
    facts: { allowed: 'CHECKING' },
  },
  INVALID_CHARACTER: {
    means:
      'The value contains a character that is not allowed. Or a new id is `.` or `..`, which no address can name.',
  },
  INVALID_COLOR: { means: 'The value is not a color.' },
  INVALID_URL: {
    means: 'The value is not an http or https URL, or its length is wrong.',
    facts: { min: 8, max: 8000 },
  },
  INVALID_TIME: {
    means: 'The value is not a time in UTC, is too far ahead, or is before `created_at`.',
    facts: { what: 'write it in UTC in the format of RFC 3339, for example 2026-01-31T08:00:00.000Z' },
  },
  TOO_MANY_KEYS: { means: '`metadata` has too many keys.', facts: { max: 50 } },
  PERSONAL_DATA: {
    means: 'A field or a metadata key looks like personal data.',
    facts: { what: 'a value that looks like an e-mail address' },
  },
  UNKNOWN_PARTNER: { means: 'The database has no partner with this id.' },
  CUSTOMER_ERASED: {
    means:
      'The customer was [erased](../../how-to/operators/audit.md#erase-a-customer), and the line has no ' +
      '`updated_at`.',
  },
  IMMUTABLE_FIELD: {
    means:
      'The value would change what never changes: the partner of a grant, or an expiry to a later time. ' +
      'Or `partner_id` differs from `--partner`.',
    facts: {
      what: 'an expiry can move earlier, but not later, and cannot be removed. A longer consent is a new grant',
    },
  },
};

export function importCodesPage(): string {
  const rows = (Object.keys(importSentences) as Code[]).map((name) => {
    const { means, facts = {} } = meanings[name];
    const message = [importSentences[name], importHints[name] ?? []].flat().join(' ');
    return [code(name), means, fillIn(message, facts)];
  });
  return `${introduction}\n${table(['code', 'meaning', 'message'], rows)}`;
}

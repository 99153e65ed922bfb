/** Generates CSV, and predicts which rows are rejected. */
import fc from 'fast-check';
import { fieldsOf, type Kind, wrongFieldsOf } from './import-model.ts';
import { anyText, aroundLength } from './words.ts';

export interface Table {
  readonly kind: Kind;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** Whether all cells are quoted. */
  readonly isQuoted: boolean;
  readonly lineEnd: '\n' | '\r\n';
}

const cell = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.constantFrom('a', 'acme', 'alice', 'CHECKING', 'USD', '1', '-7', '#aabbcc', ''),
  },
  // A NUL in a record of several lines ends the reading; csv.test.ts tests that.
  { weight: 3, arbitrary: anyText(12).map((text) => text.replaceAll('\0', '')) },
  {
    weight: 2,
    arbitrary: fc.constantFrom('"', ',', '\n', '\r\n', 'a"b', 'a,b', ' a ', '1.0', '-0', '007', '"a"'),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom('2026-01-31T08:00:00Z', 'https://a.example/x.png', '9007199254740993'),
  },
  { weight: 1, arbitrary: aroundLength(128) },
);

export const table: fc.Arbitrary<Table> = fc
  .constantFrom<Kind>('brands', 'balances', 'grants')
  .chain((kind) => {
    const { required, properties } = fieldsOf[kind];
    const optional = Object.keys(properties).filter(
      (name) => name !== 'metadata' && !(required as readonly string[]).includes(name),
    );
    const entries =
      kind === 'brands' ? ['metadata.tier', 'metadata.', 'metadata.__proto__', 'metadata.a.b'] : [];
    return fc.shuffledSubarray([...optional, ...entries]).chain((more) => {
      const columns = [...required, ...more];
      return fc.record(
        {
          kind: fc.constant(kind),
          columns: fc.constant(columns),
          rows: fc.array(fc.tuple(...columns.map(() => cell)), { minLength: 1, maxLength: 4 }),
          isQuoted: fc.boolean(),
          lineEnd: fc.constantFrom('\n' as const, '\r\n' as const),
        },
        { noNullPrototype: true },
      );
    });
  });

export function csvOf({ columns, rows, isQuoted, lineEnd }: Table): string {
  const written = (text: string) =>
    isQuoted || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  return [columns, ...rows].map((row) => row.map(written).join(',') + lineEnd).join('');
}

/** The first lines of the rejected rows. Blank rows are skipped. */
export function rejectedRows(given: Table, isPartner: (id: string) => boolean): number[] {
  let line = 2;
  return given.rows.flatMap((row) => {
    const own = line;
    line += 1 + row.join('').split('\n').length - 1;
    if (row.every((text) => text.trim() === '')) return [];
    return isAccepted(given, row, isPartner) ? [] : [own];
  });
}

function isAccepted(
  { kind, columns }: Table,
  row: readonly string[],
  isPartner: (id: string) => boolean,
): boolean {
  if (row.every((text, index) => text === columns[index])) return false;
  const record = new Map<string, unknown>();
  const metadata = new Map<string, string>();
  for (const [index, name] of columns.entries()) {
    const text = row[index]!;
    if (text === '') continue;
    if (name.startsWith('metadata.')) metadata.set(name.slice('metadata.'.length), text);
    else record.set(name, name === 'amount' ? integerOf(text) : text);
  }
  if (metadata.size > 0) record.set('metadata', Object.fromEntries(metadata));
  if (kind === 'grants' && !isPartner(String(record.get('partner_id')))) return false;
  return wrongFieldsOf(kind, Object.fromEntries(record))?.size === 0;
}

/** The number, or the text if it is not a plain integer. */
function integerOf(text: string): number | string {
  const number = Number(text);
  return Number.isSafeInteger(number) && String(number) === text && text !== '-0' ? number : text;
}

/** Imports generated files, exports them, and imports them again. */
import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import fc from 'fast-check';
import { readCsv } from '../../packages/operator/src/ingest/csv.ts';
import { type ImportReport, importRecords } from '../../packages/operator/src/ingest/import.ts';
import { InexactNumber, readJson, readJsonLines } from '../../packages/operator/src/ingest/json.ts';
import type { Reading } from '../../packages/operator/src/ingest/lines.ts';
import { kinds } from '../../packages/operator/src/ingest/record-check.ts';
import type { Store } from '../../packages/store/src/port.ts';
import { openFuzzStore } from './http-service.ts';
import { lineOf, recordOf, typo, withTypo } from './import-lines.ts';
import { fieldsOf, type Kind, wrongFieldsOf } from './import-model.ts';
import { isOtherNumber, parseWhole } from './json-model.ts';
import type { Target } from './run.ts';
import { anyText } from './words.ts';

export const imports: Target = {
  name: 'import',
  promise:
    'an import stores exactly what the schemas and rules allow, unchanged, and its errors repeat no value',
  batchRuns: 100,
  open: async (lifetime) => {
    const { store, path } = await openFuzzStore(lifetime);
    const writer = new DatabaseSync(path);
    lifetime.after(() => writer.close());
    const empty = () => writer.exec('delete from brands; delete from balances; delete from grants');
    return {
      property: fc.asyncProperty(
        fc.oneof(
          fc.tuple(fc.constant('lines'), fc.constantFrom<Kind>('brands', 'balances', 'grants').chain(fileOf)),
          fc.tuple(fc.constant('noise'), noise, cuts),
        ) as fc.Arbitrary<Input>,
        async (input) => {
          empty();
          if (input[0] === 'lines') await judgeLines(store, ...input[1]);
          else await judgeNoise(input[1], input[2]);
        },
      ),
    };
  },
};

type Lines = readonly [kind: Kind, lines: readonly string[], cuts: readonly number[]];
type Input = ['lines', Lines] | ['noise', string, readonly number[]];

/** Where a file is cut into chunks. The result must not depend on it. */
const cuts = fc.array(fc.nat(2_000), { maxLength: 3 });

function fileOf(kind: Kind): fc.Arbitrary<Lines> {
  const line = fc
    .tuple(
      recordOf(kind),
      fc.constantFrom('', ' ', '\t'),
      fc.oneof({ weight: 5, arbitrary: fc.constant(undefined) }, typo),
    )
    .map(([members, space, mistake]) => {
      const written = lineOf(members, space);
      return mistake === undefined ? written : withTypo(written, mistake);
    });
  return fc.tuple(fc.constant(kind), fc.array(line, { minLength: 1, maxLength: 5 }), cuts);
}

async function* chunksOf(text: string, places: readonly number[]): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text);
  const ends = places.map((place) => place % (bytes.length + 1)).sort((left, right) => left - right);
  let start = 0;
  for (const end of [...ends, bytes.length]) {
    yield bytes.subarray(start, end);
    start = end;
  }
}

/** The records are random: no part of them is personal data. */
const options = { partnerId: 'acme', mode: 'keep', skipsRejected: true, personalData: 'allow' } as const;

function importFrom(store: Store, readings: AsyncIterable<readonly Reading[]>, kind: Kind) {
  return importRecords(store, () => readings, { ...options, kind });
}

const partners = new Set(['acme', 'zenith', 'closed']);

async function judgeLines(store: Store, kind: Kind, lines: readonly string[], places: readonly number[]) {
  for (const line of lines) judgeJson(line);
  const text = lines.join('\n');
  const report = await importFrom(store, readJsonLines(chunksOf(text, places)), kind);
  const found = report.rejected.map(({ line, errors }) => [line, namesOf(errors)]);
  const expected = lines.map((line, index) => [index + 1, expectedFaults(kind, line)] as const);
  assert.deepEqual(
    found,
    expected.filter(([, wrong]) => wrong.length > 0),
  );
  judgeEcho(lines, JSON.stringify(report));
  await judgeReturn(store, kind);
}

const noRecord = ['(no record)'];
const repeated = ['(a key twice)'];
/** Stands for any unknown field: its reported name is cut, and has no control characters. */
const unknown = '(unknown)';

function namesOf(errors: ImportReport['rejected'][number]['errors']): string[] {
  if (errors[0]?.code === 'DUPLICATE_KEY') return repeated;
  const nameOf = ({ code, field = noRecord[0]! }: (typeof errors)[number]) =>
    code === 'UNKNOWN_FIELD' ? unknown : field.split('.')[0]!;
  return [...new Set(errors.map(nameOf))].sort();
}

/** The fields with faults of a rejected line. */
function expectedFaults(kind: Kind, line: string): string[] {
  if (line.trim() === '') return [];
  const parsed = parseWhole(line);
  if (parsed?.hasRepeatedKey) return repeated;
  const wrong = parsed && wrongFieldsOf(kind, parsed.value);
  if (wrong === undefined) return noRecord;
  const { partner_id: partner } = parsed!.value as { partner_id?: unknown };
  const isStrange = kind === 'grants' && !wrong.has('partner_id') && !partners.has(String(partner));
  const names = [...wrong].map((name) => (Object.hasOwn(fieldsOf[kind].properties, name) ? name : unknown));
  return [...new Set([...names, ...(isStrange ? ['partner_id'] : [])])].sort();
}

/** Compares our two ways to read JSON with JSON.parse. */
function judgeJson(text: string): void {
  const parsed = parseWhole(text);
  const reading = readJson(text);
  if (parsed === undefined) assert.deepEqual(reading, { code: 'INVALID_JSON' });
  else if (parsed.hasRepeatedKey) assert.equal('code' in reading && reading.code, 'DUPLICATE_KEY');
  else assert.deepEqual(reading, { value: withInexact(parsed.value) });
}

function withInexact(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (isOtherNumber(value)) return new InexactNumber(value.digits);
  if (Array.isArray(value)) return value.map(withInexact);
  return Object.fromEntries(Object.entries(value).map(([key, own]) => [key, withInexact(own)]));
}

/** No report contains a value that is longer than a few letters. */
function judgeEcho(lines: readonly string[], report: string): void {
  const names = new Set(
    lines.flatMap((line) => [...line.matchAll(/"([^"\\]*)"[ \t]?:/g)].map(([, name]) => name)),
  );
  for (const line of lines) {
    for (const [, text = ''] of line.matchAll(/:[ \t]?"([^"\\]{9,})"/g)) {
      // Reports may contain field names and allowed words, as in "Set this field to CHECKING."
      const mayBeRepeated = /^[A-Z_]+[,.]?$/.test(text) || names.has(text);
      assert.ok(mayBeRepeated || !report.includes(text), 'a value is repeated');
    }
  }
}

/** An export can be imported again and changes nothing. */
async function judgeReturn(store: Store, kind: Kind): Promise<void> {
  const before = await exported(store, kind);
  const count = before.split('\n').length - 1;
  const report = await importFrom(store, readJsonLines(chunksOf(before, [])), kind);
  const counts = { written: 0, unchanged: count, stale: 0, deleted: 0 };
  assert.deepEqual(report, { read: count, ...counts, rejected_count: 0, rejected: [] });
  assert.equal(await exported(store, kind), before);
}

async function exported(store: Store, kind: Kind): Promise<string> {
  let text = '';
  await store.exportRecords({ kind, partnerId: 'acme' }, async (lines) => {
    text += lines;
  });
  return text;
}

/** Typical pieces of files, in any order. */
const noise = fc
  .array(
    fc.oneof(
      fc.constantFrom('"', '""', ',', '\n', '\r\n', '\r', '\ufeff', ' ', '\0', '{', '}', ':', '1', '🦊'),
      fc.constantFrom(
        'name,reference_id\n',
        'name,reference_id,metadata.a\r\n',
        '"name"',
        'a,b\n',
        '"a\nb",c\n',
      ),
      anyText(6),
    ),
    { maxLength: 12 },
  )
  .map((pieces) => pieces.join(''));

/** Nothing throws, and the result does not depend on the chunks. */
async function judgeNoise(text: string, places: readonly number[]): Promise<void> {
  const ways = [readJsonLines, (chunks: AsyncIterable<Uint8Array>) => readCsv(chunks, kinds.brands.schema)];
  for (const read of ways) {
    const whole = (await Array.fromAsync(read(chunksOf(text, [])))).flat();
    const inPieces = (await Array.fromAsync(read(chunksOf(text, places)))).flat();
    assert.deepEqual(inPieces, whole);
  }
}

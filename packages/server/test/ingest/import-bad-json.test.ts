/** The kinds of the public JSON parsing test suite, each as a bad line between two good ones. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ImportReport, importRecords } from '../../src/ingest/import.ts';
import { readJsonLines } from '../../src/ingest/read/json-lines.ts';
import type { Store } from '../../src/store/port.ts';
import { brandsOf, openEmpty } from './import-into.ts';

type Bytes = string | readonly number[];

function bytesOf(...parts: Bytes[]): Buffer {
  return Buffer.concat(parts.map((part) => Buffer.from(part as string)));
}

function importBytes(store: Store, bytes: Uint8Array): Promise<ImportReport> {
  async function* chunks() {
    yield bytes;
  }
  const options = { kind: 'brands', partnerId: 'acme', skipInvalid: false, dryRun: false } as const;
  return importRecords(store, readJsonLines(chunks()), options);
}

/** The faults of each rejected line. */
function faultsOf({ rejected }: ImportReport): unknown[] {
  return rejected.map(({ line, errors }) => [line, ...errors.map(({ field, code }) => [field, code])]);
}

/** A brand with these bytes as its name. */
const named = (...parts: Bytes[]) => bytesOf('{"reference_id":"r","name":', ...parts, '}');
const nameOf = (...parts: Bytes[]) => named('"a', ...parts, 'b"');
const noted = (...parts: Bytes[]) => bytesOf('{"reference_id":"r","name":"n","metadata":', ...parts, '}');
const line = (...parts: Bytes[]) => bytesOf(...parts);

const good = '{"id":"good","reference_id":"r","name":"n"}';
const deep = 100_000;

const notJson: Readonly<Record<string, Buffer>> = {
  'a word': line('nonsense'),
  'nothing but a bracket': line('{'),
  'a line cut in a key': line('{"name'),
  'a line cut after a colon': line('{"name":'),
  'a line cut in a text': line('{"name":"a'),
  'a line cut in an escape': line('{"name":"a\\u00'),
  'a line cut in a character': line('{"name":"a', [0xe2, 0x82]),
  'single quotes': line("{'reference_id':'r','name':'n'}"),
  'bare keys': line('{reference_id:"r",name:"n"}'),
  'a trailing comma': line('{"reference_id":"r","name":"n",}'),
  'two commas': line('{"reference_id":"r",,"name":"n"}'),
  'a missing comma': line('{"reference_id":"r" "name":"n"}'),
  'a missing colon': line('{"reference_id" "r"}'),
  'a comment at the end': line(good, ' // why'),
  'a comment inside': line('{/* why */"reference_id":"r","name":"n"}'),
  'a hash comment': line('# ', good),
  'two records': line(good, good),
  'two records with a comma': line(good, ',', good),
  'a record and a bracket': line(good, ']'),
  NaN: named('NaN'),
  Infinity: named('-Infinity'),
  undefined: named('undefined'),
  True: named('True'),
  'a number with a leading zero': named('012'),
  'a number with a plus': named('+1'),
  'a number that ends with a point': named('1.'),
  'a number that begins with a point': named('.5'),
  'a number without its exponent': named('1e'),
  'a hexadecimal number': named('0x1F'),
  'full-width digits': named('１'),
  'a raw NUL in a text': nameOf([0]),
  'a raw NUL between': line('{"reference_id":"r",', [0], '"name":"n"}'),
  'raw NULs alone': line([0, 0, 0]),
  'a raw tab in a text': nameOf('\t'),
  'a raw carriage return in a text': nameOf('\r'),
  'a raw escape character in a text': nameOf([0x1b]),
  'a raw unit separator in a key': line('{"na', [0x1f], 'me":"n"}'),
  'an unknown escape': nameOf('\\x41'),
  'an escape of no digits': nameOf('\\uzzzz'),
  'a text whose end is escaped': named('"a\\"'),
  'a form feed between': line('{"reference_id":"r",\f"name":"n"}'),
  'a space that is not of JSON': line('{"reference_id":"r",\u00a0"name":"n"}'),
  'a line separator between': line('{"reference_id":"r",\u2028"name":"n"}'),
  'a BOM': line('\ufeff', good),
  'a BOM between': line('{"reference_id":"r",\ufeff"name":"n"}'),
  'a byte that UTF-8 does not have': nameOf([0xff]),
  'a lone continuation byte': nameOf([0x80]),
  'Latin-1': nameOf([0xe9]),
  'an overlong slash': nameOf([0xc0, 0xaf]),
  'an overlong NUL': nameOf([0xc0, 0x80]),
  'an overlong euro': nameOf([0xf0, 0x82, 0x82, 0xac]),
  'a raw lone surrogate': nameOf([0xed, 0xa0, 0xbd]),
  'a raw pair of surrogates, as CESU-8 has it': nameOf([0xed, 0xa0, 0xbd, 0xed, 0xb8, 0x80]),
  'a code point past the last': nameOf([0xf4, 0x90, 0x80, 0x80]),
  'bytes that are not UTF-8 outside of texts': line(good, [0xfe]),
  'arrays without end': line('['.repeat(deep)),
  'deep arrays': noted('{"a":', '['.repeat(deep), ']'.repeat(deep), '}'),
  'deep objects': noted('{"a":'.repeat(deep), '1', '}'.repeat(deep)),
  'deep objects and arrays': line('[{"":'.repeat(deep / 2)),
};

/** JSON that is no record: the field with the fault, and the code. */
const notRecords: Readonly<Record<string, readonly [Buffer, string | undefined, string]>> = {
  'an array': [line('[', good, ']'), undefined, 'EXPECTED_OBJECT'],
  'an empty array': [line('[]'), undefined, 'EXPECTED_OBJECT'],
  'a text': [line('"a"'), undefined, 'EXPECTED_OBJECT'],
  'a number': [line('123'), undefined, 'EXPECTED_OBJECT'],
  'a number too large': [line('1e400'), undefined, 'EXPECTED_OBJECT'],
  null: [line('null'), undefined, 'EXPECTED_OBJECT'],
  true: [line('true'), undefined, 'EXPECTED_OBJECT'],
  'a key twice': [line('{"name":"a","reference_id":"r","name":"a"}'), 'name', 'DUPLICATE_KEY'],
  'a key twice in metadata': [noted('{"k":"a","\\u006b":"b"}'), 'metadata.k', 'DUPLICATE_KEY'],
  'a key twice that is an e-mail address': [
    noted('{"a@b.example":"","a@b.example":""}'),
    'metadata',
    'DUPLICATE_KEY',
  ],
  'a key twice under one that is an e-mail address': [
    noted('{"a@b.example":{"y":1,"y":2}}'),
    'metadata',
    'DUPLICATE_KEY',
  ],
  'a key twice under a field that is an e-mail address': [
    line('{"name":"n","reference_id":"r","a@b.example":{"y":1,"y":2}}'),
    '[personal data]',
    'DUPLICATE_KEY',
  ],
  'a key twice, deeper than metadata': [noted('{"k":{"y":1,"y":2}}'), 'metadata.k', 'DUPLICATE_KEY'],
  'a number of 10,000 digits': [named('1'.repeat(10_000)), 'name', 'EXPECTED_STRING'],
  'an array in metadata, nested but not too deep': [
    noted(`{"a":${'['.repeat(500)}${']'.repeat(500)}}`),
    'metadata.a',
    'EXPECTED_STRING',
  ],
};

test('reports each kind of bad line by its number, and writes nothing', async (t) => {
  const store = await openEmpty(t);
  const kinds = [
    ...Object.entries(notJson).map(([what, bad]) => [what, bad, undefined, 'INVALID_JSON'] as const),
    ...Object.entries(notRecords).map(([what, entry]) => [what, ...entry] as const),
  ];
  for (const [what, bad, field, code] of kinds) {
    await t.test(what, async () => {
      const report = await importBytes(store, bytesOf(`${good}\n\n`, [...bad], `\n${good}\n`));
      assert.deepEqual(faultsOf(report), [[3, [field, code]]]);
      assert.deepEqual([report.read, report.written, report.rejected_count], [3, 0, 1]);
      assert.match(report.rejected[0]!.errors[0]!.detail, /^[A-Z].*\.$/);
      assert.deepEqual(await brandsOf(store), []);
    });
  }
});

test('reports every line of a file in UTF-16, with a BOM and without', async (t) => {
  const store = await openEmpty(t);
  for (const text of [`\ufeff${good}\n${good}`, `${good}\n${good}`]) {
    const little = Buffer.from(text, 'utf16le');
    for (const bytes of [little, Buffer.from(little).swap16()]) {
      const report = await importBytes(store, bytes);
      assert.deepEqual(
        faultsOf(report),
        [1, 2].map((number) => [number, [undefined, 'INVALID_JSON']]),
      );
      assert.equal(report.written, 0);
    }
  }
});

test('accepts valid lines that look bad', async (t) => {
  const store = await openEmpty(t);
  const lines = [
    '{"id":"1","reference_id":"r","name":"a\u2028b\u2029c\ufeffd"}',
    ' \t{ "id" : "2" , "reference_id":"r","name":"\\ud83e\\udd8a\\/\\u00e9" }\r',
    '{"id":"3","reference_id":"r","name":"n","metadata":{"__proto__":"a","constructor":"b","":"c"}}',
    '{"id":"4","reference_id":"null","name":"{\\"a\\":1,\\"a\\":2}"}',
  ];
  const report = await importBytes(store, bytesOf(`\ufeff${lines.join('\n')}`));
  assert.deepEqual([report.written, report.rejected], [4, []]);
  const brands = await brandsOf(store);
  assert.deepEqual(
    brands.map(({ name }) => name),
    ['a\u2028b\u2029c\ufeffd', '🦊/é', 'n', '{"a":1,"a":2}'],
  );
  assert.deepEqual(Object.entries(brands[2]!.metadata as object).sort(), [
    ['', 'c'],
    ['__proto__', 'a'],
    ['constructor', 'b'],
  ]);
});

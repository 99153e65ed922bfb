/** The kinds of the public JSON parsing test suite, each as a bad line between two good ones. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pluck } from '../../../testkit/fixtures/pluck.ts';
import { brandsOf, faultsOf, importBytes, openEmpty } from './import-into.ts';

type Bytes = string | readonly number[];

function bytesOf(...parts: Bytes[]): Buffer {
  return Buffer.concat(parts.map((part) => Buffer.from(part as string)));
}

/** A brand with these bytes as its name. */
const named = (...parts: Bytes[]) => bytesOf('{"reference_id":"r","name":', ...parts, '}');
const nameOf = (...parts: Bytes[]) => named('"a', ...parts, 'b"');
const noted = (...parts: Bytes[]) => bytesOf('{"reference_id":"r","name":"n","metadata":', ...parts, '}');
const line = bytesOf;

const good = '{"id":"good","reference_id":"r","name":"n"}';
const deep = 100_000;

/** Lines that are not JSON, by kind. What JSON is, Node decides. */
const notJson: Readonly<Record<string, readonly Buffer[]>> = {
  'a line that is cut': [line('{"name":'), line('{"name":"a\\u00'), line('{"name":"a', [0xe2, 0x82])],
  'a record in another syntax': [line("{'reference_id':'r','name':'n'}"), line('# ', good)],
  'something after a record': [line(good, good), line(good, ',', good)],
  'another number': ['NaN', '012', '1.'].map((text) => named(text)),
  'a raw control character': [nameOf([0]), nameOf('\t'), line([0, 0, 0])],
  'an invalid escape': [nameOf('\\x41')],
  'a BOM': [line('\ufeff', good)],
  // An unknown byte, Latin-1, an overlong form, a surrogate.
  'bytes that are not UTF-8': [
    line(good, [0xfe]),
    ...[[0xe9], [0xc0, 0xaf], [0xed, 0xa0, 0xbd]].map((raw) => nameOf(raw)),
  ],
  'deep nesting': [
    ...[line('['.repeat(deep)), line('[{"":'.repeat(deep / 2))],
    noted('{"a":', '['.repeat(deep), ']'.repeat(deep), '}'),
    noted('{"a":'.repeat(deep), '1', '}'.repeat(deep)),
  ],
};

/** Objects that are not a record: the rejected field, and the code. */
const notRecords: Readonly<Record<string, readonly [Buffer, string, string]>> = {
  'a key twice': [line('{"name":"a","reference_id":"r","name":"a"}'), 'name', 'DUPLICATE_KEY'],
  'a key twice in metadata': [noted('{"k":"a","\\u006b":"b"}'), 'metadata.k', 'DUPLICATE_KEY'],
  'a key twice that is an e-mail address': [
    noted('{"a@b.example":"","a@b.example":""}'),
    'metadata',
    'DUPLICATE_KEY',
  ],
  'a key twice under a key that is an e-mail address': [
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
    ...Object.entries(notJson).flatMap(([what, lines]) =>
      lines.map((bad, index) => [`${what} (${index + 1})`, bad, undefined, 'INVALID_JSON'] as const),
    ),
    ...['[]', '"a"', '123', '1e400', 'null', 'true', `[${good}]`].map(
      (text) => [text, line(text), undefined, 'EXPECTED_OBJECT'] as const,
    ),
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
  assert.deepEqual(pluck(brands, 'name'), ['a\u2028b\u2029c\ufeffd', '🦊/é', 'n', '{"a":1,"a":2}']);
  assert.deepEqual(Object.entries(brands[2]!.metadata as object).sort(), [
    ['', 'c'],
    ['__proto__', 'a'],
    ['constructor', 'b'],
  ]);
});

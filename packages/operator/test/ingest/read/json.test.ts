import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { anyText } from '../../../../../checks/fuzz/words.ts';
import { InexactNumber, readAnyJson, readJson } from '../../../src/ingest/read/json.ts';

test('keeps the digits of every number that is not a plain integer, at any depth', () => {
  assert.deepEqual(readJson('{"a":[1,1.0,{"b":-0}],"__proto__":2e0}'), {
    value: JSON.parse('{"a":[1,null,{"b":null}],"__proto__":null}', (key, value) =>
      value === null ? new InexactNumber({ 1: '1.0', b: '-0', ['__proto__']: '2e0' }[key]!) : value,
    ),
  });
});

test('separates exact integers from other numbers as exact arithmetic does', () => {
  const integers = fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }).map(String);
  const doubles = fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => JSON.stringify(number));
  const decimals = fc
    .tuple(integers, fc.constantFrom('.0', '.5', 'e0', 'E+2'))
    .map((parts) => parts.join(''));
  fc.assert(
    fc.property(fc.oneof(integers, doubles, decimals), (digits) => {
      const isExact = /^-?\d+$/.test(digits) && BigInt(Number.MAX_SAFE_INTEGER) >= magnitude(BigInt(digits));
      const value = isExact ? Number(digits) : new InexactNumber(digits);
      assert.deepEqual(readJson(`{"amount":${digits}}`), { value: { amount: value } });
    }),
  );
});

function magnitude(integer: bigint): bigint {
  return integer < 0n ? -integer : integer;
}

test('allows the same key in different objects, and in strings', () => {
  const texts = [
    '{"a":{"a":{"a":1}}}',
    '{"x":{"a":1},"y":{"a":1}}',
    '{"x":[{"a":1},{"a":1}]}',
    '{"a":"a","b":"a","c":"\\"a\\":1,\\"a\\":2"}',
    '{"a":"{\\"b\\":1,\\"b\\":2}","b":"\\\\"}',
    '{"A":1,"a":2}',
    '{"e\u0301":1,"\u00e9":2}',
  ];
  for (const text of texts) assert.deepEqual(readJson(text), { value: JSON.parse(text) });
});

/** A string as JSON, with some of its characters written as escapes. */
const spelled = (text: string, isEscaped: readonly boolean[]) =>
  `"${[...Array(text.length).keys()]
    .map((index) =>
      isEscaped[index % isEscaped.length]
        ? `\\u${text.charCodeAt(index).toString(16).padStart(4, '0')}`
        : JSON.stringify(text[index]).slice(1, -1),
    )
    .join('')}"`;

const escapes = fc.array(fc.boolean(), { minLength: 1, maxLength: 5 });

test('finds repeated keys in any spelling, and reports no other keys', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(anyText(6), { minLength: 1, maxLength: 6 }),
      escapes,
      escapes,
      fc.nat(),
      (keys, firstSpelling, secondSpelling, choice) => {
        const members = keys.map((key) => `${spelled(key, firstSpelling)}:{"a":"b"}`);
        const expected = Object.fromEntries(keys.map((key) => [key, { a: 'b' }]));
        assert.deepEqual(readJson(`{${members.join(',')}}`), { value: expected });
        const key = keys[choice % keys.length]!;
        const again = [...members, `${spelled(key, secondSpelling)}:1`];
        assert.deepEqual(readJson(`{${again.join(',')}}`), { code: 'DUPLICATE_KEY', path: [key] });
      },
    ),
  );
});

test('reads a string as long as a line may be', () => {
  const text = '"\\'.repeat(250_000);
  assert.deepEqual(readJson(JSON.stringify({ text })), { value: { text } });
});

/** Pieces of JSON that are joined into valid and invalid texts. */
const numbers = '0 -0 1 -7 1.0 1e3 2E-1 007 9007199254740991 9007199254740992 1e400'.split(' ');
const strings = ['""', '"a"', '":"', '"{"', '"a.e"', '"\\u0061"', '"\\""', '"é"', '"\t"', '"'];
const pieces = [...numbers, ...strings, 'true', 'false', 'null', ' ', '\t', ':', ',', '{', '}', '[', ']'];
const { json } = fc.letrec<Record<'json' | 'member', string>>((tie) => ({
  json: fc.oneof(
    { maxDepth: 5 },
    fc.constantFrom(...numbers, ...strings, 'true', 'false', 'null'),
    fc.array(tie('member'), { maxLength: 4 }).map((members) => `{${members.join(',')}}`),
    fc.array(tie('json'), { maxLength: 3 }).map((values) => `[${values.join(', ')}]`),
  ),
  member: fc
    .tuple(fc.constantFrom('"a"', '"b"', '"\\u0061"', '"__proto__"', '"1"', '":"'), tie('json'))
    .chain(([key, value]) => fc.constantFrom(`${key}:${value}`, `${key} : ${value}`)),
}));

test('reads simple lines the fast way, with the same result', () => {
  const jumbled = fc.array(fc.constantFrom(...pieces), { maxLength: 12 }).map((parts) => parts.join(''));
  const changed = fc
    .tuple(json, fc.constantFrom(...pieces), fc.nat(60))
    .map(([text, piece, at]) => text.slice(0, at) + piece + text.slice(at));
  fc.assert(
    fc.property(fc.oneof(json, changed, jumbled), (text) => {
      assert.deepEqual(readJson(text), readAnyJson(text), text);
    }),
    { numRuns: 2_000 },
  );
});

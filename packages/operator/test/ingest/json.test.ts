import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { anyText } from '../../../../checks/fuzz/words.ts';
import { InexactNumber, readJson, readJsonList } from '../../src/ingest/json.ts';

test('keeps the digits of every number that JavaScript would write in other digits, at any depth', () => {
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
      const reading = readJson(`{"amount":${digits}}`);
      const { amount } = ('value' in reading ? reading.value : {}) as { amount?: unknown };
      assert.equal(Number.isSafeInteger(amount), isExact, digits);
      assert.equal(amount instanceof InexactNumber ? amount.source : String(amount), digits);
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

const jumbled = fc.array(fc.constantFrom(...pieces), { maxLength: 12 }).map((parts) => parts.join(''));
/** Some characters are replaced by a piece. */
const changed = (texts: fc.Arbitrary<string>) =>
  fc
    .tuple(texts, fc.constantFrom('', '\ufeff', '\n', ...pieces), fc.nat(60), fc.nat(2))
    .map(([text, piece, at, cut]) => text.slice(0, at) + piece + text.slice(at + cut));

test('reads each text as JSON.parse does, except repeated keys and inexact numbers', () => {
  fc.assert(
    fc.property(fc.oneof(json, changed(json), jumbled), (text) => {
      const reading = readJson(text);
      let parsed: unknown;
      try {
        parsed = JSON.parse(text);
      } catch {
        assert.deepEqual(reading, { code: 'INVALID_JSON' }, text);
        return;
      }
      // JSON.parse keeps the last value of a repeated key, so fewer keys are left than were written.
      const strings = [...text.matchAll(/"(?:[^"\\]|\\.)*"(\s*:)?/g)];
      const isRepeated = keysIn(parsed) < strings.filter(([, colon]) => colon !== undefined).length;
      if (isRepeated) assert.equal('code' in reading && reading.code, 'DUPLICATE_KEY', text);
      else assert.equal(rounded('value' in reading && reading.value), rounded(parsed), text);
    }),
    { numRuns: 2_000 },
  );
});

function keysIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const inner = Object.values(value).reduce((sum: number, own) => sum + keysIn(own), 0);
  return Array.isArray(value) ? inner : inner + Object.keys(value).length;
}

/** A value with the numbers that JavaScript makes of inexact ones. */
function rounded(value: unknown): string {
  const ofNumber = (_key: string, own: unknown) => (own instanceof InexactNumber ? Number(own.source) : own);
  return JSON.stringify(value, ofNumber);
}

/** The values of a list that is sent in pieces of this size, or undefined if it is refused. */
async function itemsOf(text: string, size = 7): Promise<unknown[] | undefined> {
  const bytes = Buffer.from(text);
  const starts = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) => index * size);
  const notJson = new Error();
  try {
    const read = readJsonList(
      starts.map((start) => bytes.subarray(start, start + size)),
      () => notJson,
    );
    const items = (await Array.fromAsync(read())).flat();
    assert.deepEqual(
      items.map(({ line }) => line),
      items.map((_, index) => index + 1),
    );
    return items.map((item) => ('value' in item ? item.value : item.rejections.map(({ code }) => code)));
  } catch (error) {
    assert.equal(error, notJson);
    return undefined;
  }
}

test('reads a list item by item, however it is cut', async () => {
  const rows: [string, unknown[]][] = [
    ['[{"a":"x,]\\"[\\\\"} ,\n[1,\r\n\t2]]', [{ a: 'x,]"[\\' }, [1, 2]]],
    [' \n[ ]\r\n', []],
    ['\ufeff [1,"\ufeff"] ', [1, '\ufeff']],
    ['[{"a":"}]"},{"b":"[{"}]', [{ a: '}]' }, { b: '[{' }]],
    ['[[[]],{"a":{}}]', [[[]], { a: {} }]],
    ['[{"a":1,"a":2},{}]', [['DUPLICATE_KEY'], {}]],
    [`[{},"${'x'.repeat(1024 * 1024)}"]`, [{}, ['INVALID_JSON']]],
  ];
  for (const [text, items] of rows) {
    for (const size of text.length > 100 ? [65_536] : [1, 2, 3, 100]) {
      assert.deepEqual(await itemsOf(text, size), items, text.slice(0, 100));
    }
  }
});

test('refuses a whole list if any part of it is not JSON', async () => {
  const braces = ['[{}}', '[}', '[1}', '[{"a":1]}', '[[1}]', '[{]}]', '[{]]', '[{"a":[}]}]', '[{}]]', '[]}'];
  const commas = ['[,]', '[,1]', '[1,]', '[1,,2]', '[{}{}]', '[{} {}]', '[1 2]', '["a""b"]', '[{},{}{}]'];
  const ends = [
    '',
    ' ',
    '[',
    '[{}',
    '[{},',
    '[{',
    '["a]',
    '["a\\"]',
    '[{"a":"}]',
    ']',
    '[] x',
    '[][]',
    '[],',
  ];
  const marks = [' \ufeff[]', '\ufeff\ufeff[]', '[]\ufeff', '[\ufeff]', '[\ufeff1]', '\ufeff'];
  const others = [
    '{}',
    '1',
    '"[]"',
    '[x]',
    '[{a:1}]',
    '["a\nb"]',
    '["\\\n"]',
    '\f[]',
    '[\v]',
    '[\0]',
    '[01]',
    '[//\n]',
  ];
  for (const text of [...braces, ...commas, ...ends, ...marks, ...others]) {
    for (const size of [1, 100]) assert.equal(await itemsOf(text, size), undefined, JSON.stringify(text));
  }
});

test('takes the lists that JSON.parse takes, and reads them alike', async () => {
  const list = fc.array(json, { maxLength: 4 }).map((items) => `[${items.join(',')}]`);
  const jumbledList = jumbled.map((text) => `[${text}]`);
  await fc.assert(
    fc.asyncProperty(fc.oneof(list, changed(list), jumbled, jumbledList), async (text) => {
      const found = await itemsOf(text);
      let parsed: unknown;
      try {
        // One byte order mark at the start is taken.
        parsed = JSON.parse(text.replace(/^\ufeff/, ''));
      } catch {}
      assert.equal(found?.length, Array.isArray(parsed) ? parsed.length : undefined, text);
      for (const [index, item] of (found ?? []).entries()) {
        const isRepeated = Array.isArray(item) && item[0] === 'DUPLICATE_KEY';
        const expected = (parsed as unknown[])[index];
        if (!isRepeated) assert.equal(rounded(item), rounded(expected), text);
      }
    }),
    { numRuns: 1_000 },
  );
});

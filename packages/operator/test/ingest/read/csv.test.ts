import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ingestBounds } from '../../../../common/src/bounds/operator.ts';
import { createChecker } from '../../../src/ingest/check.ts';
import { readCsv } from '../../../src/ingest/csv.ts';
import { kinds } from '../../../src/ingest/record-check.ts';
import { type Bytes, chunksOf, outcomesOf, saidOf } from './read-csv.ts';

const head = 'id,name,reference_id,metadata.tier,metadata.shop\n';
const invalid = ['INVALID_CSV'];
const lastWord = ['INVALID_CSV', 'cut'];
const named = (name: string) => ({ id: '1', name, reference_id: 'r' });

test('reads records under a header, in any order of columns', async () => {
  assert.deepEqual(await outcomesOf('brands', 'reference_id,name,color\nr,Tea,#ABCDEF\nr2,Café 🦊,\n'), [
    [2, { reference_id: 'r', name: 'Tea', color: '#ABCDEF' }],
    [3, { reference_id: 'r2', name: 'Café 🦊' }],
  ]);
});

test('collects metadata.KEY columns, and omits metadata if all of them are empty', async () => {
  const header = 'name,reference_id,metadata.a,metadata.b.c,metadata.__proto__\n';
  assert.deepEqual(await outcomesOf('brands', header, 'n,r,1,2,3\nn,r,,,\nn,r,,x,\n'), [
    [2, { name: 'n', reference_id: 'r', metadata: JSON.parse('{"a":"1","b.c":"2","__proto__":"3"}') }],
    [3, { name: 'n', reference_id: 'r' }],
    [4, { name: 'n', reference_id: 'r', metadata: { 'b.c': 'x' } }],
  ]);
});

test('reads quoted cells with commas, doubled quotes, LF and CRLF', async () => {
  const rows = '1,"a,b",r,,\n1,"say ""hi""",r,,\n1,"x\ny",r,,\r\n1,"x\r\ny",r,,\n1,"""",r,,\n1,"",r,,\n';
  assert.deepEqual(await outcomesOf('brands', head, rows), [
    [2, named('a,b')],
    [3, named('say "hi"')],
    [4, named('x\ny')],
    [6, named('x\r\ny')],
    [8, named('"')],
    [9, { id: '1', reference_id: 'r' }],
  ]);
});

test('numbers a record by the line on which it starts, and counts empty lines', async () => {
  const text = `,,\n\r\n${head}\n1,"\n\n\n",r,,\n  \n,,,,\n1,b,r,,\n"",, ,,\n1,"c",r,,`;
  assert.deepEqual(await outcomesOf('brands', text), [
    [5, named('\n\n\n')],
    [11, named('b')],
    [13, named('c')],
  ]);
});

test('reads CRLF, a BOM and a last line without a line end', async () => {
  const plain = await outcomesOf('brands', `${head}1,a,r,,\n1,b,r,,\n`);
  assert.deepEqual(plain, [
    [2, named('a')],
    [3, named('b')],
  ]);
  const text = `\ufeff${head}1,a,r,,\n1,b,r,,`.replaceAll('\n', '\r\n');
  assert.deepEqual(await outcomesOf('brands', text), plain);
  const bytes = [...Buffer.from(text.replace('id,name', '"id","name"'))];
  assert.deepEqual(await outcomesOf('brands', ...bytes.map((byte) => Uint8Array.of(byte))), plain);
});

test('reads nothing from an empty file or a header alone', async () => {
  for (const text of ['', '\n', '\r\n', '\n\n\n\n', '\ufeff', '\ufeff\n', head, head.trim()]) {
    assert.deepEqual(await outcomesOf('brands', text), [], JSON.stringify(text));
  }
});

test('reads the same cells, quoted or not, however the bytes are cut into chunks', async () => {
  const cell = fc.string({
    unit: fc.constantFrom('a', '"', ',', '\n', '\r\n', ' ', 'é', '🦊'),
    maxLength: 5,
  });
  const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`;
  const rows = fc.array(fc.record({ name: cell, reference_id: cell, always: fc.boolean() }), {
    maxLength: 5,
  });
  await fc.assert(
    fc.asyncProperty(rows, fc.array(fc.nat(80), { maxLength: 8 }), async (records, cuts) => {
      let line = 2;
      let text = 'id,name,reference_id\n';
      const expected: [number, unknown][] = [];
      for (const { always, ...cells } of records) {
        const written = Object.values(cells).map((one) =>
          always || /[",\r\n]/.test(one) ? quoted(one) : one,
        );
        const value = Object.fromEntries(Object.entries(cells).filter(([, one]) => one !== ''));
        expected.push([line, { id: '1', ...value }]);
        const row = `1,${written.join(',')}\n`;
        text += row;
        line += row.split('\n').length - 1;
      }
      const bytes = Buffer.from(text);
      const edges = [0, ...cuts.filter((cut) => cut < bytes.length).sort((a, b) => a - b), bytes.length];
      const chunks = edges.slice(1).map((end, index) => bytes.subarray(edges[index], end));
      assert.deepEqual(await outcomesOf('brands', ...chunks), expected);
    }),
  );
});

const amounts = [
  ['5', 5],
  ['-5', -5],
  ['0', 0],
  ['9007199254740991', 9007199254740991],
  ['-9007199254740991', -9007199254740991],
  ['9007199254740992', 'VALUE_TOO_HIGH'],
  ['-9007199254740992', 'VALUE_TOO_LOW'],
  ['1'.repeat(400), 'VALUE_TOO_HIGH'],
  ...['1.0', '1e3', '-0', '+5', ' 5', '5 ', '007', '0x5', 'abc', '"5,0"', '٣', 'NaN', 'null', 'true'].map(
    (text) => [text, 'EXPECTED_INTEGER'] as const,
  ),
  ['', 'MISSING_REQUIRED_FIELD'],
] as const;

test('reads an integer by the rules of JSON Lines', async () => {
  const check = createChecker(kinds.balances.schema);
  const rows = amounts.map(([cell]) => `c,CHECKING,USD,${cell}\n`);
  const text = `customer_id,type,currency,amount\n${rows.join('')}`;
  const readings = (await Array.fromAsync(readCsv(chunksOf([text]), kinds.balances.schema))).flat();
  const found = readings.map((reading) => {
    const { fields, rejections } = check('value' in reading ? reading.value : undefined);
    return rejections[0]?.code ?? fields.amount;
  });
  assert.deepEqual(
    found,
    amounts.map(([, outcome]) => outcome),
  );
});

test('keeps digits in a string field as a string', async () => {
  assert.deepEqual(await outcomesOf('brands', 'id,name,reference_id\n007,1e3,true\n'), [
    [2, { id: '007', name: '1e3', reference_id: 'true' }],
  ]);
});

const long = 'x'.repeat(ingestBounds.importLineBytes);
const halfLong = long.slice(long.length / 2);
const notUtf8 = Buffer.from([0xff]);

/** A bad record between two good ones, whether the second good one is read, and the message. */
const bad: readonly [what: string, middle: Bytes[], outcome: unknown, said: RegExp][] = [
  ['too few columns', ['1,a,r\n'], invalid, /this line has 3 values, but the header has 5 names/],
  ['too many columns', ['1,a,r,,,\n'], invalid, /this line has 6 values, but the header has 5 names/],
  ['a single stray quote', ['1,5" pipe,r,,\n'], invalid, /write the inner quote twice/],
  ['a pair of stray quotes', ['1,a "b" c,r,,\n'], invalid, /write the inner quote twice/],
  ['two stray quotes side by side', ['1,a""b,r,,\n'], invalid, /write the inner quote twice/],
  ['text after a closing quote', ['1,"a"b,r,,\n'], invalid, /write the inner quote twice/],
  ['a closing quote that is missing', ['1,"a"b"",r,,\n'], invalid, /write the inner quote twice/],
  ['the header again', [head], invalid, /second header/],
  ['a NUL', ['1,a\0b,r,,\n'], invalid, /NUL/],
  ['a NUL in quotes', ['1,"a\0b",r,,\n'], invalid, /NUL/],
  ['a byte that is not UTF-8', ['1,a', notUtf8, ',r,,\n'], invalid, /UTF-8/],
  ['a truncated character', ['1,a', Buffer.from([0xe2, 0x82]), ',r,,\n'], invalid, /UTF-8/],
  ['a byte that is not UTF-8 in an open quote', ['1,"a', notUtf8, '\nb",r,,\n'], lastWord, /UTF-8/],
  ['a NUL on its second line', ['1,"a\nb\0",r,,\n'], lastWord, /NUL/],
  ['too many bytes', [`1,${long},r,,\n`], lastWord, /at most 1048576 bytes/],
  ['too many bytes in several chunks', [`1,${long}`, long, ',r\n'], lastWord, /at most 1048576 bytes/],
  ['too many bytes in quotes', [`1,"${long}",r,,\n`], lastWord, /at most 1048576 bytes/],
  ['too many bytes in an open quote', ['1,"', long, long], lastWord, /at most 1048576 bytes/],
  ['too many bytes on several lines', [`1,"${halfLong}\n${halfLong}",r,,\n`], lastWord, /at most 1048576/],
  ['a quote that is never closed', ['1,"a,r,,\n'], lastWord, /not closed/],
  ['a quote that only the next record closes', ['1,"a,r,,\n2,"b",r,,\n'], lastWord, /not closed/],
  ['too few columns because a quote took in other lines', ['1,"a,r,,\n2,b",r\n'], lastWord, /not closed/],
  ['a stray quote before an open quote', ['1,"a"b,"r\n1,good,r,,\n",\n'], lastWord, /not closed/],
];

for (const [what, middle, outcome, said] of bad) {
  test(`rejects a record with ${what}, and names its line`, async () => {
    const after = outcome === invalid ? [[4, named('good')]] : [];
    const good = '1,good,r,,\n';
    assert.deepEqual(await outcomesOf('brands', head, good, ...middle, good), [
      [2, named('good')],
      [3, outcome],
      ...after,
    ]);
    assert.match(await saidOf('brands', head, good, ...middle, good), said);
  });
}

test('reads a long cell in linear time, however many chunks and lines it has', {
  timeout: 10_000,
}, async () => {
  const cell = 'x'.repeat(500_000);
  const pieces = cell.match(/.{20}/g)!;
  assert.deepEqual(await outcomesOf('brands', head, '1,"', ...pieces, '",r,,\n'), [[2, named(cell)]]);
  const lines = 'x\n'.repeat(250_000);
  assert.deepEqual(await outcomesOf('brands', head, '1,"', lines, '",r,,\n'), [[2, named(lines)]]);
});

test('stops reading in a quote that is never closed', async () => {
  let taken = 0;
  async function* endless(): AsyncGenerator<Uint8Array> {
    yield Buffer.from(`${head}1,"`);
    for (; taken < 100; taken += 1) yield Buffer.from(`${'x'.repeat(65_535)}\n`);
  }
  const readings = (await Array.fromAsync(readCsv(endless(), kinds.brands.schema))).flat();
  assert.deepEqual([readings.length, readings[0]?.line, taken <= 17], [1, 2, true]);
});

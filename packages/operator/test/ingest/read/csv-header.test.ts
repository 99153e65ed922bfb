import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ingestBounds } from '../../../../common/src/bounds/operator.ts';
import { outcomesOf, saidOf } from './read-csv.ts';

const headers: readonly [what: string, header: string, outcome: string[], said?: RegExp][] = [
  ['an unknown column', 'id,nmae,name,reference_id', ['nmae UNKNOWN_FIELD'], /^nmae: .* rename it to name: /],
  [
    'a column that resembles no field',
    'shade,name,reference_id',
    ['shade UNKNOWN_FIELD'],
    /^shade: Remove this field: /,
  ],
  [
    'a space before a name',
    'name, reference_id',
    ['reference_id MISSING_REQUIRED_FIELD', 'column 2 UNKNOWN_FIELD'],
  ],
  ['metadata without a key', 'name,reference_id,metadata', ['metadata UNKNOWN_FIELD']],
  ['a key under a field that is not a map', 'name,reference_id,color.x', ['color.x UNKNOWN_FIELD']],
  ['a name from Object.prototype', 'name,reference_id,constructor', ['constructor UNKNOWN_FIELD']],
  ['a column twice', 'name,reference_id,name', ['name DUPLICATE_KEY']],
  ['a metadata column twice', 'name,reference_id,metadata.a,metadata.a', ['metadata.a DUPLICATE_KEY']],
  ['a required column missing', 'id,name', ['reference_id MISSING_REQUIRED_FIELD']],
  [
    'several rejections',
    'id,nam,id',
    [
      'name MISSING_REQUIRED_FIELD',
      'reference_id MISSING_REQUIRED_FIELD',
      'nam UNKNOWN_FIELD',
      'id DUPLICATE_KEY',
    ],
  ],
  ['an empty name', 'id,name,,reference_id', ['INVALID_CSV'], /column 3 of the header has no name/],
  ['semicolons', 'id;name;reference_id', ['INVALID_CSV'], /by commas/],
  ['semicolons and quotes', '"id";"name";"reference_id"', ['INVALID_CSV'], /by commas/],
  ['tabs', 'id\tname\treference_id', ['INVALID_CSV'], /by commas/],
  ['an open quote', 'id,name,"reference_id', ['INVALID_CSV'], /not closed/],
  ['a stray quote', 'id,na"me,reference_id', ['INVALID_CSV'], /write the inner quote twice/],
  ['a NUL', 'id,name\0,reference_id', ['INVALID_CSV'], /NUL/],
  ['a control character', 'id,name\u0007,reference_id', ['INVALID_CSV'], /must be a header .* name,ref/],
  ['no known name', 'BRAND_1,Jane Doe,4711', ['INVALID_CSV'], /must be a header/],
  ['no known name and semicolons', 'BRAND_1;Jane Doe;4711', ['INVALID_CSV'], /must be a header/],
  ['lines that end in CR', 'id,name\r1,Jane Doe\r2,Eve\r', ['INVALID_CSV'], /end in LF or CRLF/],
  [
    'possible values among the names',
    'id,name,reference_id,4711,Jané,j@x.example,pn_live_4711,metadata.j@x.example,é,metadata.j@x.example',
    [
      ...['column 4 UNKNOWN_FIELD', 'column 5 UNKNOWN_FIELD', 'column 6 UNKNOWN_FIELD'],
      ...['[key] UNKNOWN_FIELD', 'column 9 UNKNOWN_FIELD', 'metadata DUPLICATE_KEY'],
    ],
  ],
  [
    'too many bytes',
    `id,name,${'x'.repeat(ingestBounds.importLineBytes)}`,
    ['INVALID_CSV'],
    /at most \d+ bytes/,
  ],
];

for (const [what, header, codes, said = /: /] of headers) {
  test(`rejects a header with ${what}, once, and reads nothing after it`, async () => {
    const text = `${header}\n1,a,r\n1,b,r\n`;
    assert.deepEqual(await outcomesOf('brands', text), [[1, [...codes, 'cut']]]);
    const words = await saidOf('brands', text);
    assert.match(words, said);
    assert.doesNotMatch(words, /4711|Jan|Eve|@/);
  });
}

test('needs no other columns if lines delete', async () => {
  const line = { id: '1', deleted_at: '2027-01-31T00:00:00Z' };
  assert.deepEqual(await outcomesOf('brands', `id,deleted_at\n1,${line.deleted_at}\n`), [[2, line]]);
});

test('reports at most 50 rejections of a header', async () => {
  const many = Array.from({ length: 90 }, (_, index) => `x${index}`).join(',');
  const [[, codes] = []] = await outcomesOf('brands', `id,${many}\n`);
  assert.equal((codes as string[]).length, ingestBounds.importRejectionsOfLine + 1);
});

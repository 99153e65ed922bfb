import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type Column,
  displayWidth,
  growingTable,
  money,
  neverShortened,
  shorten,
  shortTime,
  table,
} from '../../src/command-line/table.ts';

interface Row {
  readonly name: string;
  readonly amount: string;
  readonly id: string;
}

const columns: readonly Column<Row>[] = [
  { heading: 'NAME', cell: ({ name }) => name },
  { heading: 'AMOUNT', cell: ({ amount }) => amount, isRight: true, minCells: neverShortened },
  { heading: 'ID', cell: ({ id }) => id },
];

function tableOf(width: number | undefined, ...pages: Row[][]): string[] {
  const table = growingTable(columns, { columns: width });
  return pages.map(table).join('').trimEnd().split('\n');
}

const rows = [
  { name: '日本語', amount: '$1.00', id: 'b1' },
  { name: 'cafe\u0301', amount: '-$1,250.50', id: 'b2' },
];

test('aligns columns by their width on a terminal, amounts to the right', () => {
  assert.deepEqual(tableOf(80, rows), [
    'NAME        AMOUNT  ID',
    '日本語       $1.00  b1',
    'cafe\u0301    -$1,250.50  b2',
  ]);
});

test('a whole table is as wide as its content, each row on one line', () => {
  const records = [
    { name: '日本語', id: 'b1' },
    { name: `a\nb${'c'.repeat(200)}`, id: 'b2' },
  ];
  const whole = table(records, { NAME: ({ name }) => name, ID: ({ id }) => id });
  assert.deepEqual(whole.split('\n'), [
    `NAME${' '.repeat(199)}  ID`,
    `日本語${' '.repeat(197)}  b1`,
    `a\ufffdb${'c'.repeat(200)}  b2`,
  ]);
});

test('prints any number of rows', () => {
  const records = Array<string>(200_000).fill('x');
  assert.equal(table(records, { ID: (id) => id }).split('\n').length, 200_001);
});

test('has one heading, and widens its columns with later rows', () => {
  const later = [{ name: 'a longer name', amount: '$2.00', id: 'b3' }];
  assert.deepEqual(tableOf(80, [rows[0]!], later, [rows[0]!]), [
    'NAME    AMOUNT  ID',
    '日本語   $1.00  b1',
    'a longer name   $2.00  b3',
    '日本語          $1.00  b1',
  ]);
});

test('a narrow terminal: shortens the widest, drops the last, never wraps or cuts an amount', () => {
  const long = { name: 'n'.repeat(40), amount: '-$90,071,992,547,409.91', id: '日'.repeat(30) };
  for (let width = 1; width <= 130; width += 1) {
    const shown = tableOf(width, [long]);
    for (const line of shown) assert.ok(displayWidth(line) < Math.max(width, 2), `${width}: ${line}`);
    assert.ok(!shown[1]!.includes('$') || shown[1]!.includes(long.amount), shown[1]);
    assert.equal(shown[1]!.includes('日'), width > 8 + 2 + 23 + 2 + 8, shown[1]);
  }
  assert.equal(tableOf(130, [long])[1]!, `${long.name}  ${long.amount}  ${long.id}`);
});

test('repeats the heading when a later row leaves no room for a column', () => {
  const wide = { name: 'bee', amount: '-$90,071,992,547,409.91', id: 'b3' };
  assert.deepEqual(tableOf(33, [rows[0]!], [wide], [rows[0]!]), [
    'NAME    AMOUNT  ID',
    '日本語   $1.00  b1',
    '',
    'NAME                     AMOUNT',
    'bee     -$90,071,992,547,409.91',
    '日本語                    $1.00',
  ]);
});

test('assumes 80 columns if the terminal does not know its width', () => {
  const long = { name: 'n'.repeat(200), amount: '$1.00', id: 'bb' };
  for (const width of [0, undefined]) {
    assert.equal(displayWidth(tableOf(width, [long])[1]!), 79);
  }
});

test('lets no row control the terminal, look like two rows or turn the direction of text', () => {
  const hostile = { name: 'a\u001b[2Jb\nc\u009b1m\u202ed\u200be\u200ff\u061cg', amount: '\u0007', id: 'b\r' };
  const [, row, ...others] = tableOf(80, [hostile]);
  assert.match(row!, /^a\ufffd\[2Jb\ufffdc\ufffd1m\ufffdd\ufffde\ufffdf\ufffdg +\ufffd {2}b\ufffd$/);
  assert.deepEqual(others, []);
});

test('shows any value that a server sends instead of a text, an amount or a time', () => {
  const odd: readonly unknown[] = [null, undefined, 7, 1.5, true, {}, { toString: 1 }, ['a']];
  const columns: readonly Column<unknown>[] = [
    { heading: 'NAME', cell: (value) => value as string },
    { heading: 'AMOUNT', cell: (value) => money(value as number, value as string) },
    { heading: 'UPDATED', cell: (value) => shortTime(value as string) },
  ];
  const lines = growingTable(columns, { columns: 200 })(odd).trimEnd().split('\n');
  assert.equal(lines.length, 1 + odd.length);
  assert.match(lines[7]!, /^\{"toString":1\} /);
  assert.doesNotMatch(lines.join(), /NaN|undefined|null/);
});

test('measures the width of a text in terminal cells', () => {
  for (const [text, cells] of [
    ['', 0],
    ['plain', 5],
    ['café', 4],
    ['cafe\u0301', 4],
    ['日本語', 6],
    ['ｆｕｌｌ', 8],
    ['한글', 4],
    ['\u1112\u1161\u11ab', 2],
    ['🦊', 2],
    ['👨‍👩‍👧', 2],
    ['👍🏽', 2],
    ['🇩🇪', 2],
    ['❤️', 2],
    ['1️⃣', 2],
    ['עברית', 5],
    ['zero\u200bwidth', 9],
    ['…█', 2],
  ] as const) {
    assert.equal(displayWidth(text), cells, text);
  }
});

test('shortens a text to a width, and cuts through no character', () => {
  for (const [text, cells, shown] of [
    ['exactly', 7, 'exactly'],
    ['a bit too long', 7, 'a bit …'],
    ['日本語のお店', 7, '日本語…'],
    ['日本語のお店', 6, '日本…'],
    ['👨‍👩‍👧👨‍👩‍👧', 3, '👨‍👩‍👧…'],
    ['cafe\u0301s', 4, 'caf…'],
    ['any', 1, '…'],
  ] as const) {
    assert.equal(shorten(text, cells), shown);
    assert.ok(displayWidth(shown) <= cells);
  }
});

test('writes amounts to the last cent, with the decimals of their currency if it is known', () => {
  for (const [amount, shown, currency = 'USD'] of [
    [125_050, '$1,250.50'],
    [-300, '-$3.00'],
    [0, '$0.00'],
    [-1, '-$0.01'],
    [Number.MAX_SAFE_INTEGER, '$90,071,992,547,409.91'],
    [Number.MIN_SAFE_INTEGER, '-$90,071,992,547,409.91'],
    [125_050, '¥125,050', 'JPY'],
    [125_050, '125050 dollars', 'dollars'],
  ] as const) {
    assert.equal(money(amount, currency), shown);
  }
});

test('cuts a time to the minute', () => {
  assert.equal(shortTime('2026-01-31T08:05:59.999Z'), '2026-01-31 08:05');
  assert.equal(shortTime(undefined), '');
});

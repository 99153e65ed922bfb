import assert from 'node:assert/strict';
import { test } from 'node:test';
import stringWidth from 'string-width';
import { type Columns, growingTable, shorten, shortTime, table } from '../../src/command-line/table.ts';

interface Row {
  readonly name: string;
  readonly amount: string;
  readonly id: string;
}

const columns: Columns<Row> = [
  ['NAME', ({ name }) => name],
  ['AMOUNT', ({ amount }) => amount, 'number'],
  ['ID', ({ id }) => id, 'id'],
];

function tableOf(room: number, ...pages: Row[][]): string[] {
  const { rows } = growingTable(columns, room);
  return pages.map(rows).join('').trimEnd().split('\n');
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
  const whole = table(
    records,
    [
      ['NAME', ({ name }) => name],
      ['ID', ({ id }) => id],
    ],
    Infinity,
  );
  assert.deepEqual(whole.split('\n'), [
    `NAME${' '.repeat(199)}  ID`,
    `日本語${' '.repeat(197)}  b1`,
    `a\ufffdb${'c'.repeat(200)}  b2`,
  ]);
});

test('prints any number of rows', () => {
  const records = Array<string>(200_000).fill('x');
  assert.equal(table(records, [['ID', (id) => id]]).split('\n').length, 200_001);
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
  for (let room = 1; room <= 130; room += 1) {
    const shown = tableOf(room, [long]);
    for (const line of shown) assert.ok(stringWidth(line) <= room, `${room}: ${line}`);
    assert.ok(!shown[1]!.includes('$') || shown[1]!.includes(long.amount), shown[1]);
    assert.equal(shown[1]!.includes('日'), room >= 12 + 2 + 23 + 2 + 14, shown[1]);
  }
  assert.equal(tableOf(130, [long])[1]!, `${long.name}  ${long.amount}  ${long.id}`);
});

test('repeats the heading when a later row leaves no room for a column', () => {
  const wide = { name: 'bee', amount: '-$90,071,992,547,409.91', id: 'b3' };
  assert.deepEqual(tableOf(32, [rows[0]!], [wide], [rows[0]!]), [
    'NAME    AMOUNT  ID',
    '日本語   $1.00  b1',
    '',
    'NAME                     AMOUNT',
    'bee     -$90,071,992,547,409.91',
    '日本語                    $1.00',
  ]);
});

test('says below what was left out and what was shortened, and nothing if all is there', () => {
  const long = { name: 'n'.repeat(40), amount: '$1.00', id: 'bb' };
  const advice = 'A wider window or --json shows all.';
  const noteAt = (room: number) => table([long], columns, room).split('\n').slice(2);
  assert.deepEqual(noteAt(52), []);
  assert.deepEqual(noteAt(51), ['', 'Shortened: NAME. A wider window or --json shows', 'all.']);
  assert.deepEqual(noteAt(23).join(' '), ` Left out: ID. Shortened: NAME. ${advice}`);
});

test('ids that begin and end alike stay different, or their column is left out', () => {
  const ids = [1, 2, 3].map((digit) => `KEY_${'0'.repeat(12)}${digit}${'0'.repeat(12)}`);
  const list: Columns<string> = [
    ['STATUS', () => 'active', 'state'],
    ['KEY', (id) => id, 'id'],
  ];
  for (let room = 10; room <= 40; room += 1) {
    const [heading = '', ...shown] = table(ids, list, room).split('\n').slice(0, 4);
    assert.equal(new Set(shown).size, heading.includes('KEY') ? 3 : 1, `${room}: ${shown}`);
  }
  assert.equal(table(ids, list, 34).split('\n')[1], 'active  KEY_00000000…1000000000000');
});

test('lets no row control the terminal, look like two rows or turn the direction of text', () => {
  const hostile = { name: 'a\u001b[2Jb\nc\u009b1m\u202ed\u200be\u200ff\u061cg', amount: '\u0007', id: 'b\r' };
  const [, row, ...others] = tableOf(80, [hostile]);
  assert.match(row!, /^a\ufffd\[2Jb\ufffdc\ufffd1m\ufffdd\ufffde\ufffdf\ufffdg +\ufffd {2}b\ufffd$/);
  assert.deepEqual(others, []);
});

test('shows any value that a server sends instead of a text or a time', () => {
  const odd: readonly unknown[] = [null, undefined, 7, 1.5, true, {}, { toString: 1 }, ['a']];
  const columns: Columns<unknown> = [
    ['NAME', (value) => value as string],
    ['UPDATED', (value) => value as string, 'time'],
  ];
  const lines = table(odd, columns, 200).split('\n');
  assert.equal(lines.length, 1 + odd.length);
  assert.match(lines[7]!, /^\{"toString":1\} /);
  assert.doesNotMatch(lines.join(), /NaN|undefined|null/);
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
    assert.ok(stringWidth(shown) <= cells);
  }
});

test('shortens an id in its middle', () => {
  for (const [text, cells, shown] of [
    ['KEY_01943ad894e0', 9, 'KEY_…94e0'],
    ['KEY_01943ad894e0', 10, 'KEY_…894e0'],
    ['日本語のお店', 7, '日本…店'],
    ['any', 1, '…'],
  ] as const) {
    assert.equal(shorten(text, cells, true), shown);
  }
});

test('cuts a time to the minute', () => {
  assert.equal(shortTime('2026-01-31T08:05:59.999Z'), '2026-01-31 08:05');
  assert.equal(shortTime(undefined), '');
});

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { ImportRow } from '../../../store/src/port.ts';
import { createRecordCheck, type RecordOptions } from '../../src/ingest/record-check.ts';
import { smallest } from './check-line.ts';

const partners = { findPartner: async (id: string) => (id === 'acme' ? ({ id } as never) : undefined) };
const minutes = (ahead: number) => new Date(Date.now() + ahead * 60_000).toISOString();
const brand = { ...smallest.brands, partner_id: 'acme', id: '1' };
const past = '2026-01-01T00:00:00Z';
const ahead = 'Correct the time: it is more than 5 minutes ahead of the clock of this machine.';

/** The sentences for a line, each with its field and code. */
async function said(options: RecordOptions, value: object): Promise<string[]> {
  const [checked] = await createRecordCheck(partners, options)([{ line: 1, value }]);
  return checked!.rejections.map(({ field, code, detail }) => `${field}: ${code}: ${detail}`);
}

const rules: readonly [what: string, options: RecordOptions, line: object, sentences: string[]][] = [
  [
    'every time that is more than 5 minutes ahead',
    { kind: 'balances' },
    { ...smallest.balances, created_at: minutes(6), updated_at: minutes(7) },
    [`created_at: INVALID_TIME: ${ahead}`, `updated_at: INVALID_TIME: ${ahead}`],
  ],
  [
    'a deletion that is more than 5 minutes ahead',
    { kind: 'brands' },
    { ...brand, deleted_at: minutes(6) },
    [`deleted_at: INVALID_TIME: ${ahead}`],
  ],
  [
    'an update before the creation',
    { kind: 'balances' },
    { ...smallest.balances, created_at: '2026-02-01T00:00:00Z', updated_at: past },
    ['updated_at: INVALID_TIME: Correct the time: updated_at must not be before created_at.'],
  ],
  [
    'a deletion without an id',
    { kind: 'balances' },
    { customer_id: 'alice', deleted_at: past },
    ['id: MISSING_REQUIRED_FIELD: Add this field: it is required.'],
  ],
  [
    'a deletion of a grant',
    { kind: 'grants' },
    { ...smallest.grants, id: '1', deleted_at: past },
    [
      'deleted_at: UNKNOWN_FIELD: Remove this field: a line cannot delete a grant. ' +
        'Set the status to REVOKED instead.',
    ],
  ],
  ...['REVOKED', 'EXPIRED', 'CONSUMED'].map((status): (typeof rules)[number] => [
    `a grant that is ${status} without an id`,
    { kind: 'grants' },
    { ...smallest.grants, status },
    [
      'id: MISSING_REQUIRED_FIELD: Add this field: the line ends a stored grant. ' +
        'Without an id it would make a new grant, which is never active.',
    ],
  ]),
  [
    'a grant that is REVOKED with an empty id, once',
    { kind: 'grants' },
    { ...smallest.grants, id: '', status: 'REVOKED' },
    ['id: VALUE_EMPTY: Set this field to a value, or leave it out if it is optional.'],
  ],
  [
    'a brand without a partner',
    { kind: 'brands' },
    smallest.brands,
    ['partner_id: MISSING_REQUIRED_FIELD: Add this field, or name the partner of all brands with --partner.'],
  ],
  [
    'a brand of another partner than that of --partner',
    { kind: 'brands', partnerId: 'zenith' },
    brand,
    [
      'partner_id: IMMUTABLE_FIELD: Correct this field: --partner names another partner. ' +
        'Without --partner, each line names its own.',
    ],
  ],
  [
    'a deletion of an unknown partner',
    { kind: 'brands' },
    { partner_id: 'nobody', id: '1', deleted_at: past },
    ['partner_id: UNKNOWN_PARTNER: Create this partner first, or correct its id.'],
  ],
];

for (const [what, options, line, sentences] of rules) {
  test(`rejects ${what}`, async () => {
    assert.deepEqual(await said(options, line), sentences);
  });
}

test('takes times up to 5 minutes ahead, and ignores the other fields of a deletion', async () => {
  assert.deepEqual(await said({ kind: 'brands' }, { ...brand, updated_at: minutes(4) }), []);
  assert.deepEqual(await said({ kind: 'brands' }, { ...brand, name: 7, deleted_at: minutes(4) }), []);
  assert.deepEqual(await said({ kind: 'brands' }, { ...brand, deleted_at: null }), []);
});

const nowMs = Date.parse('2026-03-01T00:00:00Z');
const [now, hourAgo] = [nowMs, nowMs - 3_600_000].map((ms) => new Date(ms).toISOString()) as [string, string];
const soon = new Date(nowMs + 60_000).toISOString();

/** The row of a line at a fixed time. */
async function rowOf(t: TestContext, options: RecordOptions, value: object): Promise<ImportRow> {
  t.mock.timers.enable({ apis: ['Date'], now: nowMs });
  const [checked] = await createRecordCheck(partners, options)([{ line: 7, value }]);
  assert.deepEqual(checked?.rejections, []);
  t.mock.timers.reset();
  return checked!.row;
}

const untimed = { is_timed: 0, created_at: now, updated_at: now };
const balance = { ...smallest.balances, id: '1' };
const grant = { ...smallest.grants, id: '1' };
const stored = { ...grant, action: 'CHECKING_BALANCE', line: 7 };

const rows: readonly [what: string, options: RecordOptions, line: object, row: ImportRow][] = [
  ['without times', { kind: 'balances' }, balance, { ...balance, ...untimed }],
  [
    'with updated_at, which is also the time of its creation',
    { kind: 'balances' },
    { ...balance, updated_at: hourAgo },
    { ...balance, is_timed: 1, created_at: hourAgo, updated_at: hourAgo },
  ],
  [
    'with created_at',
    { kind: 'balances' },
    { ...balance, created_at: hourAgo },
    { ...balance, ...untimed, created_at: hourAgo },
  ],
  [
    'that is created in a minute',
    { kind: 'balances' },
    { ...balance, created_at: soon },
    { ...balance, is_timed: 0, created_at: soon, updated_at: soon },
  ],
  [
    'with both times',
    { kind: 'balances' },
    { ...balance, created_at: hourAgo, updated_at: now },
    { ...balance, is_timed: 1, created_at: hourAgo, updated_at: now },
  ],
  [
    'with equal times, at most 5 minutes ahead',
    { kind: 'balances' },
    { ...balance, created_at: minutesAfter(5), updated_at: minutesAfter(5) },
    { ...balance, is_timed: 1, created_at: minutesAfter(5), updated_at: minutesAfter(5) },
  ],
  [
    'that deletes',
    { kind: 'balances' },
    { ...balance, deleted_at: minutesAfter(5) },
    { customer_id: 'alice', id: '1', deleted_at: minutesAfter(5) },
  ],
  ['of the partner in the line', { kind: 'brands' }, brand, { ...brand, ...untimed }],
  [
    'of the partner of all lines',
    { kind: 'brands', partnerId: 'x' },
    { ...brand, partner_id: null },
    { ...brand, partner_id: 'x', ...untimed },
  ],
  ['of both', { kind: 'brands', partnerId: 'acme' }, brand, { ...brand, ...untimed }],
  [
    'that deletes, of the partner of all lines',
    { kind: 'brands', partnerId: 'x' },
    { id: '1', deleted_at: hourAgo },
    { partner_id: 'x', id: '1', deleted_at: hourAgo },
  ],
  ['of a grant', { kind: 'grants' }, grant, { ...stored, ...untimed }],
  [
    'of a grant with all fields',
    { kind: 'grants' },
    { ...grant, action: 'CHECKING_BALANCE', status: 'REVOKED', expires_at: soon },
    { ...stored, ...untimed, status: 'REVOKED', expires_at: soon },
  ],
  [
    'of a grant, null',
    { kind: 'grants' },
    { ...grant, expires_at: null },
    { ...stored, ...untimed, expires_at: '' },
  ],
];

function minutesAfter(number: number): string {
  return new Date(nowMs + number * 60_000).toISOString();
}

for (const [what, options, line, row] of rows) {
  test(`completes a line ${what}`, async (t) => {
    assert.deepEqual(await rowOf(t, options, line), { line: 7, ...row });
  });
}

test('issues ids', async () => {
  const check = createRecordCheck(partners, { kind: 'balances' });
  const checkOne = async () => (await check([{ line: 1, value: smallest.balances }]))[0]!.row.id;
  const first = await checkOne();
  assert.match(String(first), /^BAL_/);
  assert.notEqual(first, await checkOne());
});

test('takes the time of each batch from the clock, also after the clock was years ahead', async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: nowMs });
  const check = createRecordCheck(partners, { kind: 'balances' });
  const checkAt = async (ms: number, value: object) => {
    t.mock.timers.setTime(ms);
    return (await check([{ line: 1, value }]))[0]!;
  };
  const year = 365 * 86_400_000;
  await checkAt(nowMs + 3 * year, balance);
  const { row } = await checkAt(nowMs, balance);
  assert.deepEqual([row.created_at, row.updated_at], [now, now]);
  const { rejections } = await checkAt(nowMs, { ...balance, updated_at: minutesAfter(6) });
  assert.deepEqual(
    rejections.map(({ code }) => code),
    ['INVALID_TIME'],
  );
});

test('looks up a partner once, and an unknown one every time', async () => {
  const asked: string[] = [];
  const findPartner = async (id: string) => {
    asked.push(id);
    return id === 'acme' ? ({ id } as never) : undefined;
  };
  const values = ['acme', 'nobody', 'acme', 'nobody'].map((partner_id, line) => ({
    line,
    value: { ...brand, partner_id },
  }));
  const checked = await createRecordCheck({ findPartner }, { kind: 'brands' })(values);
  assert.deepEqual(
    checked.map(({ line, rejections }) => [line, ...rejections.map(({ code }) => code)]),
    [[0], [1, 'UNKNOWN_PARTNER'], [2], [3, 'UNKNOWN_PARTNER']],
  );
  assert.deepEqual(asked, ['acme', 'nobody', 'nobody']);
  // These lines name no partner, or --partner was checked already.
  await createRecordCheck({ findPartner }, { kind: 'balances' })([{ line: 1, value: balance }]);
  const options = { kind: 'brands', partnerId: 'acme' } as const;
  await createRecordCheck({ findPartner }, options)([{ line: 1, value: brand }]);
  assert.equal(asked.length, 3);
});

test('reports a rejection of the partner once, and unreadable lines with their rejections', async () => {
  const rejections = [{ code: 'INVALID_JSON', detail: 'No.' }] as const;
  const check = createRecordCheck(partners, { kind: 'brands' });
  const checked = await check([
    { line: 3, rejections },
    { line: 4, value: { ...brand, partner_id: 7, color: 7 } },
    { line: 5, value: { ...brand, partner_id: undefined, color: 7 } },
    { line: 6, value: null },
  ]);
  assert.deepEqual(checked[0], { line: 3, text: undefined, row: {}, rejections });
  const found = checked.slice(1).map(({ line, rejections: own }) => [line, ...own.map(({ field }) => field)]);
  assert.deepEqual(found, [
    [4, 'color', 'partner_id'],
    [5, 'color', 'partner_id'],
    [6, undefined],
  ]);
});

test('rejects new ids that no address can name, and takes them in lines that end or delete', async () => {
  const unnamed = 'INVALID_CHARACTER: Choose another id: no address can name "." and "..".';
  for (const id of ['.', '..']) {
    const [ofGrant, ofBalance] = [
      { ...smallest.grants, customer_id: id, id },
      { ...balance, customer_id: id },
    ];
    assert.deepEqual(await said({ kind: 'grants' }, ofGrant), [`id: ${unnamed}`, `customer_id: ${unnamed}`]);
    assert.deepEqual(await said({ kind: 'balances' }, ofBalance), [`customer_id: ${unnamed}`]);
    assert.deepEqual(await said({ kind: 'grants' }, { ...ofGrant, status: 'REVOKED' }), []);
    assert.deepEqual(await said({ kind: 'balances' }, { ...ofBalance, deleted_at: past }), []);
  }
});

test('rejects, reports or ignores personal data', async () => {
  const value = { ...brand, reference_id: 'alice@example.com' };
  for (const [personalData, rejected, warned] of [
    [undefined, ['PERSONAL_DATA'], []],
    ['reject', ['PERSONAL_DATA'], []],
    ['warn', [], [[9, 'PERSONAL_DATA']]],
    ['allow', [], []],
  ] as const) {
    const said: unknown[] = [];
    const check = createRecordCheck(partners, {
      kind: 'brands',
      ...(personalData && { personalData }),
      warn: ({ line, errors }) => said.push([line, ...errors.map(({ code }) => code)]),
    });
    const [clean, checked] = await check([
      { line: 8, value: brand },
      { line: 9, value },
    ]);
    assert.deepEqual(clean!.rejections, []);
    assert.deepEqual([checked!.rejections.map(({ code }) => code), said], [rejected, warned], personalData);
  }
});

/** The database itself refuses what the checks in front of it should never let through. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { openSqlite } from '../../src/store/sqlite/open.ts';
import { createdAt } from '../support/fixture.ts';
import { temporaryFolder } from '../support/folder.ts';

type Row = Readonly<Record<string, SQLInputValue>>;

const times = { created_at: createdAt, updated_at: createdAt };

/** One good row for each table; partners come first, the others refer to them. */
const good = {
  partners: { id: 'acme', name: 'Acme', created_at: createdAt, disabled_at: null },
  settings: { name: 'other', value: 'value' },
  cursor_keys: { id: 7, secret: new Uint8Array(32), created_at: createdAt },
  api_keys: {
    ...{ id: 'k', partner_id: 'acme', name: null, digest: new Uint8Array(32), last_four: 'abcd' },
    ...{ scopes: 'BRANDS_READ', created_at: createdAt, expires_at: null, revoked_at: null },
  },
  grants: {
    ...{ customer_id: 'alice', id: 'g', partner_id: 'acme', action: 'CHECKING_BALANCE', status: 'ACTIVE' },
    ...{ expires_at: null, ...times },
  },
  balances: { customer_id: 'alice', id: 'b', type: 'CHECKING', currency: 'USD', amount: 1, ...times },
  brands: {
    ...{ partner_id: 'acme', id: 'b', name: 'Name', ...times, reference_id: 'ref' },
    ...{ color: null, profile_image_url: null, metadata: null },
  },
} satisfies Record<string, Row>;

type Table = keyof typeof good;

function openRaw(t: TestContext): DatabaseSync {
  const path = join(temporaryFolder(t), 'test.db');
  void openSqlite(path, 'sandbox', 'create').close();
  const db = new DatabaseSync(path);
  t.after(() => db.close());
  insert(db, 'partners', good.partners);
  return db;
}

function insert(db: DatabaseSync, table: Table, row: Row): void {
  const columns = Object.keys(row);
  const places = columns.map(() => '?').join(', ');
  db.prepare(`insert into ${table} (${columns.join(', ')}) values (${places})`).run(...Object.values(row));
}

/** SQLITE_CONSTRAINT, of whatever kind. */
function isRefusal(error: unknown): boolean {
  return ((error as { errcode?: number }).errcode ?? 0) % 256 === 19;
}

const controls = ['\u0000', 'a\u0000b', '\u0001', 'a\tb', 'a\n', '\u001f', '\u007f'];
const textTo = (max: number) => ['', 'x'.repeat(max + 1), '🦊'.repeat(max + 1), null, ...controls];
const optionalTextTo = (max: number) => textTo(max).filter((value) => value !== null);
const badTimes = [
  ...['', 'now', 'garbage', '2026-01-01', '2026-01-01T00:00:00Z', '2026-01-01 00:00:00.000Z', '2461041.5'],
  ...[
    '2026-04-31T00:00:00.000Z',
    '2026-13-01T00:00:00.000Z',
    '2026-01-01T24:00:00.000Z',
    '12026-01-01T00:00:00.000Z',
  ],
  ...['2026-01-01T00:00:00.000+00:00', '2026-01-01T00:00:00.0000Z', 'x2026-01-01T00:00:00.000Z'],
];
const fiftyOne = Object.fromEntries(Array.from({ length: 51 }, (_, index) => [`k${index}`, 'v']));

const bad: { readonly [Name in Table]: Readonly<Record<string, readonly SQLInputValue[]>> } = {
  settings: { name: [null], value: [null] },
  cursor_keys: {
    id: [-1, 256],
    secret: [new Uint8Array(31), new Uint8Array(33), null, 'x'.repeat(32)],
    created_at: [null, ...badTimes],
  },
  partners: { id: textTo(128), name: textTo(1024), created_at: [null, ...badTimes], disabled_at: badTimes },
  api_keys: {
    id: ['', 'x'.repeat(129), null],
    partner_id: ['nobody', null],
    name: optionalTextTo(1024),
    digest: [new Uint8Array(31), new Uint8Array(33), null, 'x'.repeat(32)],
    last_four: ['abc', 'abcde', null],
    scopes: ['', 'BRANDS_READ BALANCES_READ', 'BRANDS_WRITE', 'BRANDS_READ ', null],
    created_at: [null, ...badTimes],
    expires_at: badTimes,
    revoked_at: badTimes,
  },
  grants: {
    customer_id: textTo(128),
    id: textTo(256),
    partner_id: ['nobody', '', null],
    action: ['CHECKING', '', null],
    status: ['active', 'PENDING', '', null],
    expires_at: badTimes,
    created_at: [null, ...badTimes],
    updated_at: [null, ...badTimes],
  },
  balances: {
    customer_id: textTo(128),
    id: textTo(256),
    type: ['checking', 'SAVINGS', '', null],
    currency: ['usd', 'EUR', '', null],
    amount: [9007199254740992n, -9007199254740992n, 1.5, '1x', '', null],
    created_at: [null, ...badTimes],
    updated_at: [null, ...badTimes],
  },
  brands: {
    partner_id: ['nobody', null],
    id: textTo(128),
    name: textTo(1024),
    reference_id: textTo(1024),
    created_at: [null, ...badTimes],
    updated_at: [null, ...badTimes],
    color: ['', '#12345', '#1234567', '123456', '#GGGGGG', 'red'],
    profile_image_url: [
      ...[
        '',
        'http://',
        'https://',
        'ftp://example.com',
        'example.com/logo.png',
        'http://x y',
        'http://x\u0000y',
      ],
      ...['http://x\u0001', `http://${'x'.repeat(7_994)}`, ' http://x'],
    ],
    metadata: [
      ...[
        '',
        'null',
        '[]',
        '"text"',
        '{',
        '{"a":1}',
        '{"a":null}',
        '{"a":{}}',
        '{"a":true}',
        '{"a":"\\u0001"}',
      ],
      ...['{"a":"\\u0000"}', '{"a\\u0000":"b"}', '{"a\\u001f":"b"}', '{"a":"\\u007f"}', '{"a":"b\\nc"}'],
      JSON.stringify(fiftyOne),
    ],
  },
};

for (const [table, columns] of Object.entries(bad) as [Table, Record<string, SQLInputValue[]>][]) {
  for (const [column, values] of Object.entries(columns)) {
    test(`refuses ${table} with a bad ${column}, and takes a good row`, (t) => {
      const db = openRaw(t);
      const row: Row = { ...good[table], ...(table === 'partners' && { id: 'zenith' }) };
      const taken = values.filter((value) => isTaken(db, table, { ...row, [column]: value }));
      assert.deepEqual(taken, [], 'these were written');
      insert(db, table, row);
    });
  }
}

/** Whether a bad row goes in; it is taken out again. */
function isTaken(db: DatabaseSync, table: Table, row: Row): boolean {
  db.exec('savepoint attempt');
  try {
    insert(db, table, row);
    return true;
  } catch (error) {
    // Text that is no JSON, and the time "now", are refused before the constraint is weighed.
    assert.ok(isRefusal(error) || /malformed JSON|non-deterministic/.test(String(error)), String(error));
    return false;
  } finally {
    db.exec('rollback to attempt; release attempt');
  }
}

test('refuses an id that is taken within its partner or customer, and takes it under another', (t) => {
  const db = openRaw(t);
  insert(db, 'partners', { ...good.partners, id: 'zenith' });
  const others = {
    brands: { partner_id: 'zenith' },
    balances: { customer_id: 'zoe' },
    grants: { customer_id: 'zoe' },
  };
  for (const [table, other] of Object.entries(others) as ['brands' | 'balances' | 'grants', Row][]) {
    insert(db, table, good[table]);
    assert.throws(() => insert(db, table, good[table]), isRefusal);
    insert(db, table, { ...good[table], ...other });
  }
});

test('refuses two keys of one digest, and a partner that goes while something is of it', (t) => {
  const db = openRaw(t);
  insert(db, 'api_keys', good.api_keys);
  assert.throws(() => insert(db, 'api_keys', { ...good.api_keys, id: 'k2' }), isRefusal);
  assert.throws(() => db.exec(`delete from partners where id = 'acme'`), isRefusal);
});

test('refuses bad values in an update as in an insert', (t) => {
  const db = openRaw(t);
  insert(db, 'brands', good.brands);
  insert(db, 'balances', good.balances);
  const updates = [
    ...[`brands set metadata = '{"a":1}'`, `brands set metadata = '[]'`, `brands set color = 'red'`],
    ...[`brands set name = ''`, `brands set name = char(1)`, 'balances set amount = 9007199254740992'],
  ];
  for (const update of updates) assert.throws(() => db.exec(`update ${update}`), isRefusal, update);
  db.exec(`update brands set metadata = '{"a":"1"}', color = '#000000', name = 'New'`);
  assert.match(String(db.prepare('select record from brands').get()?.record), /"name":"New".*"a":"1"/);
});

test('takes rows at their bounds', (t) => {
  const db = openRaw(t);
  const fox = (count: number) => '🦊'.repeat(count);
  const last = '9999-12-31T23:59:59.999Z';
  insert(db, 'brands', {
    ...{ ...good.brands, id: fox(128), name: fox(1024), reference_id: fox(1024), updated_at: last },
    ...{ color: '#aF09bC', profile_image_url: `HTTP://${fox(7_993)}`, metadata: '{"":""}' },
  });
  insert(db, 'balances', {
    ...good.balances,
    id: fox(256),
    customer_id: fox(128),
    amount: 9007199254740991n,
  });
  insert(db, 'balances', {
    ...good.balances,
    amount: -9007199254740991n,
    created_at: '0001-01-01T00:00:00.000Z',
  });
  insert(db, 'grants', { ...good.grants, id: fox(256), customer_id: fox(128), expires_at: last });
});

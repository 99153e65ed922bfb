import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createChecker } from '../../src/ingest/check.ts';
import { importFaults } from '../../src/ingest/faults.ts';
import { readJsonLines } from '../../src/ingest/json-lines.ts';
import { kinds } from '../../src/ingest/kinds.ts';
import type { ImportKind } from '../../src/store/port.ts';

/** What each kind requires, and nothing else. */
const smallest = {
  brands: { name: 'Name', reference_id: 'ref' },
  balances: { customer_id: 'alice', type: 'CHECKING', currency: 'USD', amount: 1 },
  grants: { partner_id: 'acme', customer_id: 'alice' },
} as const;

const checkers = {
  brands: createChecker(kinds.brands.schema),
  balances: createChecker(kinds.balances.schema),
  grants: createChecker(kinds.grants.schema),
};

const codesMet = new Set<string>();

interface Outcome {
  readonly fields: Record<string, unknown>;
  readonly faults: (readonly [string | undefined, string])[];
}

/** A line goes the way that it goes in an import: read, then checked. */
async function checkLine(kind: ImportKind, line: string): Promise<Outcome> {
  async function* bytes() {
    yield Buffer.from(line);
  }
  const [reading] = await Array.fromAsync(readJsonLines(bytes()));
  assert.ok(reading !== undefined);
  const { fields, faults } =
    'fault' in reading ? { fields: {}, faults: [reading.fault] } : checkers[kind](reading.value);
  for (const { code } of faults) codesMet.add(code);
  return { fields, faults: faults.map(({ field, code }) => [field, code]) };
}

/** The smallest record with one field set to what is written here. */
function lineWith(kind: ImportKind, field: string, json: string): string {
  const members = Object.entries({ ...smallest[kind], [field]: '' });
  const texts = members.map(([name, value]) => `"${name}":${name === field ? json : JSON.stringify(value)}`);
  return `{${texts.join(',')}}`;
}

async function assertTaken(kind: ImportKind, field: string, json: string, stored: unknown): Promise<void> {
  const outcome = await checkLine(kind, lineWith(kind, field, json));
  const { [field]: taken } = outcome.fields;
  assert.deepEqual({ faults: outcome.faults, taken }, { faults: [], taken: stored }, json.slice(0, 80));
}

async function assertRefused(kind: ImportKind, field: string, json: string, code: string): Promise<void> {
  const { faults } = await checkLine(kind, lineWith(kind, field, json));
  assert.deepEqual(faults, [[field, code]], json.slice(0, 80));
}

const strings = {
  brands: { id: 128, name: 1024, reference_id: 1024 },
  balances: { id: 256, customer_id: 128 },
  grants: { id: 256, partner_id: 128, customer_id: 128 },
};
const stringFields = Object.entries(strings).flatMap(([kind, fields]) =>
  Object.entries(fields).map(([field, max]) => [kind as ImportKind, field, max] as const),
);
const times = Object.entries({ brands: [], balances: [], grants: ['expires_at'] }).flatMap(([kind, more]) =>
  ['created_at', 'updated_at', ...more].map((field) => [kind as ImportKind, field] as const),
);
const otherTexts = [
  ['brands', 'color'],
  ['brands', 'profile_image_url'],
  ['balances', 'type'],
  ['balances', 'currency'],
  ['grants', 'action'],
  ['grants', 'status'],
] as const;
const allTexts = [...stringFields, ...times, ...otherTexts].map(([kind, field]) => [kind, field] as const);

for (const [kind, record] of Object.entries(smallest) as [ImportKind, Record<string, unknown>][]) {
  test(`takes ${kind} with their required fields alone, and refuses them without any of these`, async () => {
    const line = JSON.stringify(record);
    assert.deepEqual(await checkLine(kind, line), { fields: record, faults: [] });
    for (const field of Object.keys(record)) {
      const { [field]: _, ...rest } = record;
      const { faults } = await checkLine(kind, JSON.stringify(rest));
      assert.deepEqual(faults, [[field, 'MISSING_REQUIRED_FIELD']]);
    }
  });

  test(`takes null as absent in an optional field of ${kind}, and not in a required one`, async () => {
    for (const [field, { type }] of Object.entries(kinds[kind].schema.properties)) {
      const { fields, faults } = await checkLine(kind, lineWith(kind, field, 'null'));
      const code = type === 'integer' ? 'EXPECTED_INTEGER' : 'EXPECTED_STRING';
      assert.deepEqual(faults, field in record ? [[field, code]] : []);
      assert.equal(fields[field], undefined);
    }
  });
}

test('refuses a line that is JSON but no object', async () => {
  for (const line of ['[]', '[{}]', '"text"', '5', '1.5', 'true', 'null']) {
    assert.deepEqual((await checkLine('brands', line)).faults, [[undefined, 'EXPECTED_OBJECT']], line);
  }
});

test('refuses a line that is no JSON', async () => {
  const { faults } = await checkLine('brands', '{"name":"Name"');
  assert.deepEqual(faults, [[undefined, 'INVALID_JSON']]);
});

test('names a repeated key in dot notation', async () => {
  const top = await checkLine('brands', '{"name":"a","\\u006eame":"b","reference_id":"r"}');
  assert.deepEqual(top.faults, [['name', 'DUPLICATE_KEY']]);
  const nested = await checkLine('brands', '{"name":"a","reference_id":"r","metadata":{"t":"1","\\u0074":"2"}}');
  assert.deepEqual(nested.faults, [['metadata.t', 'DUPLICATE_KEY']]);
});

test('refuses fields that the record does not have, whatever they are called', async () => {
  const names = ['Name', 'nickname', 'partner_id', '__proto__', 'constructor', 'toString', '', ' name'];
  for (const name of names) {
    const line = `{"name":"Name","reference_id":"ref",${JSON.stringify(name)}:null}`;
    assert.deepEqual((await checkLine('brands', line)).faults, [[name, 'UNKNOWN_FIELD']]);
  }
});

test('reports all that is wrong with a record at once, in the order of its fields', async () => {
  const line = '{"extra":1,"metadata":{"a":1,"b":"\\n"},"color":"red","id":"","created_at":"now"}';
  assert.deepEqual((await checkLine('brands', line)).faults, [
    ['id', 'VALUE_EMPTY'],
    ['name', 'MISSING_REQUIRED_FIELD'],
    ['created_at', 'INVALID_TIME'],
    ['reference_id', 'MISSING_REQUIRED_FIELD'],
    ['color', 'INVALID_COLOR'],
    ['metadata.a', 'EXPECTED_STRING'],
    ['metadata.b', 'INVALID_CHARACTER'],
    ['extra', 'UNKNOWN_FIELD'],
  ]);
});

test('counts the length of a text in code points, at the bound and one past it', async () => {
  for (const [kind, field, max] of stringFields) {
    for (const character of ['x', 'é', '語', '🦊']) {
      const longest = character.repeat(max);
      await assertTaken(kind, field, JSON.stringify(longest), longest);
      await assertRefused(kind, field, JSON.stringify(`${longest}${character}`), 'VALUE_TOO_LONG');
      await assertRefused(kind, field, JSON.stringify(`${longest}x`), 'VALUE_TOO_LONG');
    }
    const combined = 'e\u0301'.repeat(max / 2);
    await assertTaken(kind, field, JSON.stringify(combined), combined);
    await assertRefused(kind, field, JSON.stringify(`${combined}\u0301`), 'VALUE_TOO_LONG');
  }
});

test('refuses an empty text in every field that holds text', async () => {
  for (const [kind, field] of allTexts) await assertRefused(kind, field, '""', 'VALUE_EMPTY');
});

test('refuses what is no string in every field that holds text', async () => {
  for (const [kind, field] of allTexts) {
    for (const json of ['5', '1.5', 'true', '["a"]', '{"a":"b"}', '{"toString":"a"}']) {
      await assertRefused(kind, field, json, 'EXPECTED_STRING');
    }
  }
});

test('refuses control characters and unpaired surrogates in every field that holds text', async () => {
  const codes = ['0000', '0001', '0009', '000a', '001f', '007f', 'd83e', 'dd8a', 'dd8a\\ud83e', 'd83e\\ud83e'];
  for (const [kind, field] of allTexts) {
    for (const code of codes) await assertRefused(kind, field, `"a\\u${code}b"`, 'INVALID_CHARACTER');
  }
});

test('takes every other character as it is', async () => {
  const others = [' ', '\u0080', '\u009f', '\u00a0', '\u2028', '\ufeff', '\ufffd', '\uffff', '\u{10ffff}', '"\\/'];
  for (const [kind, field] of stringFields) {
    for (const text of others) await assertTaken(kind, field, JSON.stringify(text), text);
  }
});

test('takes an amount in plain digits from the lowest to the highest that is exact', async () => {
  for (const digits of ['0', '1', '-1', '100', '9007199254740991', '-9007199254740991']) {
    await assertTaken('balances', 'amount', digits, Number(digits));
  }
});

const amounts = {
  EXPECTED_INTEGER: ['1.0', '1e3', '1E3', '-0', '0.0', '-0.0', '0.5', '1e400', '10e-1', '9007199254740993.0'],
  VALUE_TOO_HIGH: ['9007199254740992', '9007199254740993', '9'.repeat(400)],
  VALUE_TOO_LOW: ['-9007199254740992', '-9007199254740993', `-${'9'.repeat(400)}`],
};

for (const [code, list] of Object.entries(amounts)) {
  test(`refuses an amount as ${code} by how it is written`, async () => {
    for (const digits of list) await assertRefused('balances', 'amount', digits, code);
  });
}

test('refuses an amount that is no number at all', async () => {
  for (const json of ['"5"', '""', 'true', '{}', '[]', '[5]', '[[-5]]', '{"source":"5"}', '{"toString":"5"}']) {
    await assertRefused('balances', 'amount', json, 'EXPECTED_INTEGER');
  }
});

test('takes enumerated values in exactly their spelling', async () => {
  const allowed = [
    ['balances', 'type', ['CHECKING'], ['checking', 'SAVINGS', 'CHECKING ']],
    ['balances', 'currency', ['USD'], ['usd', 'EUR', 'US']],
    ['grants', 'action', ['CHECKING_BALANCE'], ['CHECKING', 'checking_balance']],
    ['grants', 'status', ['ACTIVE', 'CONSUMED', 'REVOKED', 'EXPIRED'], ['active', 'PENDING', 'ACTIVE,EXPIRED']],
  ] as const;
  for (const [kind, field, good, bad] of allowed) {
    for (const value of good) await assertTaken(kind, field, JSON.stringify(value), value);
    for (const value of bad) await assertRefused(kind, field, JSON.stringify(value), 'INVALID_ENUM_VALUE');
  }
});

test('takes a color only as # and six hex digits', async () => {
  for (const color of ['#000000', '#1A2b3C', '#ffffff']) {
    await assertTaken('brands', 'color', `"${color}"`, color);
  }
  const bad = ['#12345', '#1234567', '123456', '#GGGGGG', '#12345\uff16', 'red', ' #123456', '#123456 ', '#fff'];
  for (const color of bad) await assertRefused('brands', 'color', `"${color}"`, 'INVALID_COLOR');
});

const goodTimes = [
  ['2026-01-31T08:00:00Z', '2026-01-31T08:00:00.000Z'],
  ['2026-01-31T08:00:00+00:00', '2026-01-31T08:00:00.000Z'],
  ['2026-01-31t08:00:00z', '2026-01-31T08:00:00.000Z'],
  ['2026-01-31T08:00:00.1Z', '2026-01-31T08:00:00.100Z'],
  ['2026-01-31T08:00:00.12+00:00', '2026-01-31T08:00:00.120Z'],
  ['2026-01-31T08:00:00.123999999999Z', '2026-01-31T08:00:00.123Z'],
  ['2025-12-31T23:59:59.9999Z', '2025-12-31T23:59:59.999Z'],
  ['2024-02-29T00:00:00Z', '2024-02-29T00:00:00.000Z'],
  ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000Z'],
  ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
] as const;

const badTimes = [
  ['a leap second', ['2016-12-31T23:59:60Z', '2016-12-31T23:59:60.500Z']],
  ['a day that does not exist', ['2026-04-31T00:00:00Z', '2025-02-29T00:00:00Z', '2026-01-00T00:00:00Z']],
  ['a month that does not exist', ['2026-13-01T00:00:00Z', '2026-00-01T00:00:00Z']],
  ['an hour or minute too many', ['2026-01-01T24:00:00Z', '2026-01-01T00:60:00Z']],
  ['another offset', ['2026-01-01T00:00:00+01:00', '2026-01-01T00:00:00-00:00', '2026-01-01T00:00:00-05:00']],
  ['no offset', ['2026-01-01T00:00:00', '2026-01-01T00:00:00.000']],
  ['a part missing', ['2026-01-01', '2026-01-01T00:00Z', '2026-01-01T00:00:00.Z', '00:00:00Z']],
  ['another spelling', ['2026-01-01 00:00:00Z', '2026-1-1T00:00:00Z', '2026-01-01T00:00:00,5Z', '20260101T000000Z']],
  ['a year out of range', ['0000-01-01T00:00:00Z', '12026-01-01T00:00:00Z', '-2026-01-01T00:00:00Z']],
  ['no time at all', ['now', '1767225600', ' 2026-01-01T00:00:00Z', '2026-01-01T00:00:00Z ', 'Thu, 01 Jan 2026']],
] as const;

test('takes a time in UTC and cuts its fraction to milliseconds', async () => {
  for (const [kind, field] of times) {
    for (const [time, stored] of goodTimes) await assertTaken(kind, field, `"${time}"`, stored);
  }
});

for (const [what, list] of badTimes) {
  test(`refuses a time with ${what}`, async () => {
    for (const [kind, field] of times) {
      for (const time of list) await assertRefused(kind, field, `"${time}"`, 'INVALID_TIME');
    }
  });
}

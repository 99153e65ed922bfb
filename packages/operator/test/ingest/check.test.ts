import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ImportKind } from '../../../store/src/port.ts';
import { createChecker } from '../../src/ingest/check.ts';
import { kinds } from '../../src/ingest/record-check.ts';
import {
  allTexts,
  assertRefused,
  assertTaken,
  checkLine,
  lineWith,
  smallest,
  stringFields,
} from './check-line.ts';

for (const [kind, record] of Object.entries(smallest) as [ImportKind, Record<string, unknown>][]) {
  test(`accepts ${kind} with only their required fields, and refuses them if one is missing`, async () => {
    const line = JSON.stringify(record);
    assert.deepEqual(await checkLine(kind, line), { fields: record, rejections: [] });
    for (const field of Object.keys(record)) {
      const { [field]: _, ...rest } = record;
      const { rejections } = await checkLine(kind, JSON.stringify(rest));
      assert.deepEqual(rejections, [[field, 'MISSING_REQUIRED_FIELD']]);
    }
  });

  test(`reads null as absent in optional fields of ${kind}, and refuses it in required fields`, async () => {
    for (const [field, { type }] of Object.entries(kinds[kind].schema.properties)) {
      const { fields, rejections } = await checkLine(kind, lineWith(kind, field, 'null'));
      const code = type === 'integer' ? 'EXPECTED_INTEGER' : 'EXPECTED_STRING';
      assert.deepEqual(rejections, field in record ? [[field, code]] : []);
      assert.equal(fields[field], undefined);
    }
  });
}

test('refuses fields that the record does not have, whatever they are called', async () => {
  const names = ['Name', 'nickname', 'customer_id', '__proto__', 'constructor', 'toString', '', ' name'];
  for (const name of names) {
    const line = `{"name":"Name","reference_id":"ref",${JSON.stringify(name)}:null}`;
    assert.deepEqual((await checkLine('brands', line)).rejections, [[name, 'UNKNOWN_FIELD']]);
  }
});

test('reports all rejections of a record at once, in the order of its fields', async () => {
  const line = '{"extra":1,"metadata":{"a":1,"b":"\\n"},"color":"red","id":"","created_at":"now"}';
  assert.deepEqual((await checkLine('brands', line)).rejections, [
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

test('does not start with a pattern that has no code', () => {
  const properties = { country: { type: 'string', pattern: '^[A-Z]{2}$' } };
  assert.throws(() => createChecker({ required: [], properties }), /has no code/);
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

test('refuses values other than strings in every field that holds text', async () => {
  for (const [kind, field] of allTexts) {
    for (const json of ['5', '1.5', 'true', '["a"]', '{"a":"b"}', '{"toString":"a"}']) {
      await assertRefused(kind, field, json, 'EXPECTED_STRING');
    }
  }
});

test('refuses control characters and unpaired surrogates in every field that holds text', async () => {
  const codes = '0000 0001 0009 000a 001f 007f d83e dd8a dd8a\\ud83e d83e\\ud83e'.split(' ');
  for (const [kind, field] of allTexts) {
    for (const code of codes) await assertRefused(kind, field, `"a\\u${code}b"`, 'INVALID_CHARACTER');
  }
  const { rejections } = createChecker(kinds.brands.schema)({ ...smallest.brands, name: 'in quotes\n' });
  assert.match(rejections[0]!.detail, /line breaks/);
});

test('accepts every other character unchanged', async () => {
  for (const [kind, field] of stringFields) {
    for (const text of [...' \u0080\u009f\u00a0\u2028\ufeff\ufffd\uffff\u{10ffff}', '"\\/'])
      await assertTaken(kind, field, JSON.stringify(text), text);
  }
});

test('accepts an amount in plain digits from the lowest to the highest exact integer', async () => {
  for (const digits of ['0', '1', '-1', '100', '9007199254740991', '-9007199254740991']) {
    await assertTaken('balances', 'amount', digits, Number(digits));
  }
});

const amounts = {
  EXPECTED_INTEGER: [
    ...'1.0 1e3 1E3 -0 0.0 -0.0 0.5 1e400 -1e400 1e-400 10e-1 9007199254740993.0'.split(' '),
    `0.${'1'.repeat(10_000)}`,
  ],
  VALUE_TOO_HIGH: ['9007199254740992', '9007199254740993', '9'.repeat(10_000)],
  VALUE_TOO_LOW: ['-9007199254740992', '-9007199254740993', `-${'9'.repeat(10_000)}`],
};

for (const [code, list] of Object.entries(amounts)) {
  test(`refuses an amount as ${code} by how it is written`, async () => {
    for (const digits of list) await assertRefused('balances', 'amount', digits, code);
  });
}

test('refuses an amount that is not a number', async () => {
  for (const json of '"5" "" true {} [] [5] [[-5]] {"source":"5"} {"toString":"5"}'.split(' ')) {
    await assertRefused('balances', 'amount', json, 'EXPECTED_INTEGER');
  }
});

test('accepts enumerated values only in their exact spelling', async () => {
  const allowed = [
    ['balances', 'type', ['CHECKING'], ['checking', 'SAVINGS', 'CHECKING ']],
    ['balances', 'currency', ['USD'], ['usd', 'EUR', 'US']],
    ['grants', 'action', ['CHECKING_BALANCE'], ['CHECKING', 'checking_balance']],
    ['grants', 'status', ['ACTIVE', 'CONSUMED', 'REVOKED', 'EXPIRED'], ['active', 'ACTIVE,EXPIRED']],
  ] as const;
  for (const [kind, field, good, bad] of allowed) {
    for (const value of good) await assertTaken(kind, field, JSON.stringify(value), value);
    for (const value of bad) await assertRefused(kind, field, JSON.stringify(value), 'INVALID_ENUM_VALUE');
  }
});

test('says what to do, and never repeats a value, an API key or unprintable characters', () => {
  const secret = 'pn_live_0123456789';
  const texts = { name: `${secret}\n`, created_at: secret, color: secret, profile_image_url: secret };
  const metadata = { [secret]: 1, 'a\u0007b': secret };
  const record = { id: [secret], ...texts, reference_id: secret.repeat(100), [secret]: 1, metadata };
  const { rejections } = createChecker(kinds.brands.schema)(record);
  assert.equal(rejections.length, 9);
  for (const { detail } of rejections) assert.match(detail, /^[A-Z][^{}]+\.$/);
  assert.doesNotMatch(JSON.stringify(rejections), /0123456789|\\u0007/);
});

test('cuts the name of a field to 64 characters', async () => {
  const { rejections } = await checkLine(
    'brands',
    `{"name":"a","reference_id":"r","${'🦊'.repeat(1_000)}":1}`,
  );
  assert.deepEqual(rejections, [['🦊'.repeat(64), 'UNKNOWN_FIELD']]);
});

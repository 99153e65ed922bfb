/** How query strings are read, without a service: `npm run check -- mutate` needs quick tests. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listBalances, listBrands } from '@partner-network/contract/operations';
import { keys } from '../../testkit/fixtures/fixture.ts';
import { parseParameters, splitQuery, validParameters } from '../src/request.ts';

const fox = '%F0%9F%A6%8A';
const asked = { customer_id: 'alice', type: 'CHECKING' };
type Name = keyof typeof listBalances.parameters;

const taken: readonly (readonly [name: Name, encoded: string, value: string | number])[] = [
  ['limit', '1', 1],
  ['limit', '100', 100],
  ['customer_id', fox.repeat(128), '🦊'.repeat(128)],
  ['grant_id', fox.repeat(256), '🦊'.repeat(256)],
  ['cursor', 'x'.repeat(1_024), 'x'.repeat(1_024)],
  ['type', '%43HECKING', 'CHECKING'],
  ['grant_id', 'a+b%2bc%C3%A9=', 'a b+cé='],
  ['grant_id', '%EF%BB%BF', '\ufeff'],
];

/** Control characters, broken escapes, and bytes that are not UTF-8. */
const invalid = ['%00', 'a%1f', '%7F', '%', '%2', '%zz', '%ff', '%C0%80', '%ED%A0%80', '%F4%90%80%80'];

const refused: readonly (readonly [code: string, name: Name, encoded: readonly string[]])[] = [
  ...(['customer_id', 'type', 'grant_id', 'cursor', 'limit'] as const).flatMap((name) => [
    ['VALUE_EMPTY', name, ['']] as const,
    ['CONFLICTING_PARAMETERS', name, [`1&${name}=1`]] as const,
    ['INVALID_CHARACTER', name, invalid] as const,
  ]),
  ['VALUE_TOO_LOW', 'limit', ['0', '-1', String(-(2n ** 70n))]],
  ['VALUE_TOO_HIGH', 'limit', ['101', String(2n ** 70n)]],
  ['EXPECTED_INTEGER', 'limit', ['007', '5.0', '1e2', '+5', '%205', '-0', 'x', '%D9%A3']],
  ['VALUE_TOO_LONG', 'customer_id', [fox.repeat(129)]],
  ['VALUE_TOO_LONG', 'grant_id', [fox.repeat(257)]],
  ['VALUE_TOO_LONG', 'cursor', ['x'.repeat(1_025)]],
  ['INVALID_ENUM_VALUE', 'type', ['checking', 'SAVINGS']],
];

/** A query with this value, and otherwise the required parameters. */
function queryWith(name: Name, encoded: string): string {
  const others = Object.entries(asked).filter(([other]) => other !== name);
  return [...others.map((pair) => pair.join('=')), `${name}=${encoded}`].join('&');
}

test('a value is decoded and read', () => {
  for (const [name, encoded, value] of taken) {
    const query = queryWith(name, encoded);
    const expected = { ...asked, grant_id: undefined, cursor: undefined, limit: 50, [name]: value };
    assert.deepEqual(outcomeOf(listBalances, query), expected, query);
    assert.deepEqual(validParameters(listBalances, query), expected, query);
  }
});

test('a value is refused with its first error, and the others are valid all the same', () => {
  for (const [code, name, all] of refused) {
    for (const encoded of all) {
      const query = queryWith(name, encoded);
      const expected = { ...asked, grant_id: undefined, cursor: undefined, limit: 50 };
      assert.deepEqual(outcomeOf(listBalances, query), [[code, name]], query);
      const { [name]: _, ...others } = expected;
      assert.deepEqual(validParameters(listBalances, query), others, query);
    }
  }
});

test('absent parameters are errors or have their default', () => {
  const brands = { cursor: undefined, limit: 50, reference_id: undefined };
  assert.deepEqual(outcomeOf(listBrands, ''), brands);
  const missing = ['customer_id', 'type'].map((name) => ['MISSING_REQUIRED_PARAMETER', name]);
  assert.deepEqual(outcomeOf(listBalances, 'limit=0'), [...missing, ['VALUE_TOO_LOW', 'limit']]);
});

test('a pair without an equals sign is a name with an empty value', () => {
  assert.deepEqual(
    [...splitQuery('limit&cursor=a=b&limit=&=c&&limit')],
    [
      ['limit', ['', '', '']],
      ['cursor', ['a=b']],
      ['', ['c']],
    ],
  );
});

test('a name that cannot be decoded keeps its text, also invisible characters', () => {
  assert.deepEqual([...splitQuery('%EF%BB%BFli%FFmit=5').keys()], ['\ufeffli\ufffdmit']);
});

test('only the first hundred parameters are read, without counting empty ones', () => {
  const names = Array.from({ length: 8_000 }, (_, index) => `x${index}`);
  assert.deepEqual([...splitQuery(names.join('&&')).keys()], names.slice(0, 100));
});

/** The values, or the codes and fields of the errors, and their details. */
function outcomeOf(operation: typeof listBrands | typeof listBalances, query: string, detail?: 'detail') {
  try {
    return parseParameters(operation, query);
  } catch (thrown) {
    const { errors } = thrown as { errors: { code: string; field?: string; detail: string }[] };
    return errors.map((error) => [error.code, error.field, ...(detail ? [error.detail] : [])]);
  }
}

test('the error of an unknown parameter has its name, also if the name is empty', () => {
  const code = 'UNKNOWN_QUERY_PARAMETER';
  assert.deepEqual(outcomeOf(listBrands, 'limits=5', 'detail'), [
    [code, 'limits', 'Remove the unknown parameter limits, or rename it to limit.'],
  ]);
  assert.deepEqual(outcomeOf(listBrands, 'limit=5&=5', 'detail'), [
    [code, undefined, 'Remove the unknown parameter without a name.'],
  ]);
});

test('a refusal has at most 20 errors, those of known parameters first', () => {
  const unknown = Array.from({ length: 50 }, (_, index) => `x${index}`);
  const found = outcomeOf(listBrands, `limit=0&${unknown.join('&')}`) as unknown[][];
  assert.deepEqual(
    found.map(([, field]) => field),
    ['limit', ...unknown.slice(0, 19)],
  );
});

test('the error of an unknown parameter has no key, and at most 64 characters of a name', () => {
  const key = keys.acme;
  const found = outcomeOf(listBrands, `${key}=1&x${key}y=2&${fox.repeat(100)}=3`, 'detail');
  assert.ok(!JSON.stringify(found).includes(key.slice(4, 20)));
  assert.equal((found as string[][])[2]![1], '🦊'.repeat(64));
});

test('no query of 16 KiB takes long to refuse', () => {
  const parts = [
    'x',
    '%F0%9F%A6%8A',
    'limi&',
    'cursor=&',
    'limit=&',
    '%',
    'a:/b:',
    '://a:',
    `${keys.acme}a`,
    ' \u200b',
  ];
  for (const part of parts) {
    const query = part.repeat(16_384 / part.length);
    const before = process.cpuUsage();
    assert.ok(Array.isArray(outcomeOf(listBrands, query)), part);
    // Takes 5 ms at most. One step for each pair of characters would take seconds.
    const { user } = process.cpuUsage(before);
    assert.ok(user < 200_000, `${user / 1_000} ms for ${part}`);
  }
});

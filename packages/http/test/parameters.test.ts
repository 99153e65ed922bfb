/** Query strings that the model of `npm run check -- fuzz` does not cover, without a service. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listBrands } from '@partner-network/contract/operations';
import { keys } from '../../testkit/fixtures/fixture.ts';
import { parseParameters, splitQuery } from '../src/request.ts';

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

function detailsOf(query: string): unknown {
  try {
    return parseParameters(listBrands, query);
  } catch (thrown) {
    const { errors } = thrown as { errors: { code: string; field?: string; detail: string }[] };
    return errors.map(({ code, field, detail }) => [code, field, detail]);
  }
}

test('the error of an unknown parameter has its name, also if the name is empty', () => {
  const code = 'UNKNOWN_QUERY_PARAMETER';
  assert.deepEqual(detailsOf('limits=5'), [
    [code, 'limits', 'Remove the unknown parameter limits, or rename it to limit.'],
  ]);
  assert.deepEqual(detailsOf('limit=5&=5'), [
    [code, undefined, 'Remove the unknown parameter without a name.'],
  ]);
});

test('a refusal has at most 20 errors, those of known parameters first', () => {
  const unknown = Array.from({ length: 50 }, (_, index) => `x${index}`);
  const found = detailsOf(`limit=0&${unknown.join('&')}`) as unknown[][];
  assert.deepEqual(
    found.map(([, field]) => field),
    ['limit', ...unknown.slice(0, 19)],
  );
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
    assert.ok(Array.isArray(detailsOf(query)), part);
    // Takes 5 ms at most. One step for each pair of characters would take seconds.
    const { user } = process.cpuUsage(before);
    assert.ok(user < 200_000, `${user / 1_000} ms for ${part}`);
  }
});

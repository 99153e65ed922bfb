/** What a query says, read without a service around it, where the model of `npm run fuzz` does not look. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listBrands } from '@partner-network/contract/operations';
import { parseParameters } from '../../src/http/parameters/parameters.ts';
import { splitQuery } from '../../src/http/parameters/query.ts';

test('what has no equals sign is a name without a value', () => {
  assert.deepEqual(
    [...splitQuery('limit&cursor=a=b&limit=&=c&&limit')],
    [
      ['limit', ['', '', '']],
      ['cursor', ['a=b']],
      ['', ['c']],
    ],
  );
});

test('a name that cannot be decoded keeps all of it that is text, also what is not seen', () => {
  assert.deepEqual([...splitQuery('%EF%BB%BFli%FFmit=5').keys()], ['\ufeffli\ufffdmit']);
});

function detailsOf(query: string): unknown {
  try {
    return parseParameters(listBrands, query);
  } catch (thrown) {
    const { errors } = thrown as { errors: { code: string; field?: string; detail: string }[] };
    return errors.map(({ code, field, detail }) => [code, field, detail]);
  }
}

test('an unknown parameter is told by its name, and by words where it has none', () => {
  const told = (field: string | undefined, name: string, nearest: string) => [
    'UNKNOWN_QUERY_PARAMETER',
    field,
    `Remove ${name} or rename it to ${nearest}: this operation has no such parameter.`,
  ];
  assert.deepEqual(detailsOf('limits=5'), [told('limits', 'limits', 'limit')]);
  assert.deepEqual(detailsOf('limit=5&=5'), [told(undefined, 'the nameless parameter', 'limit')]);
});

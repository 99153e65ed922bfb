import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createOrderCheck } from '../../src/sql/imports.ts';

const isInOrder = (ids: readonly string[]) =>
  createOrderCheck('balances')(ids.map((id) => ({ customer_id: 'alice', id })));

test('rows count as sorted only if they are in byte order, as tables are', () => {
  assert.ok(isInOrder(['a', 'ab', 'b', 'é', '\ue000', '\uffee']));
  for (const ids of [
    ['b', 'a'],
    ['a', 'a'],
    ['a', ''],
    ['\u{1f98a}', '\uffee'],
    ['\u{1f98a}', '\ue000'],
  ]) {
    assert.ok(!isInOrder(ids), JSON.stringify(ids));
  }
  const ids = fc.array(fc.string({ unit: fc.constantFrom('a', 'é', '\ud7ff', '\ue000', '\uffee', '🦊') }), {
    minLength: 2,
    maxLength: 3,
  });
  fc.assert(
    fc.property(ids, (given) => {
      const isSorted = given.every(
        (id, index) => index === 0 || Buffer.compare(Buffer.from(given[index - 1]!), Buffer.from(id)) < 0,
      );
      if (!isSorted) assert.ok(!isInOrder(given), JSON.stringify(given));
    }),
  );
});

test('rows are sorted by owner first', () => {
  const isSorted = (...keys: [customer_id: string, id: string][]) =>
    createOrderCheck('balances')(keys.map(([customer_id, id]) => ({ customer_id, id })));
  assert.ok(isSorted(['a', 'b'], ['b', 'a']));
  assert.ok(!isSorted(['b', 'a'], ['a', 'b']));
});

test('remembers the rows of earlier calls', () => {
  const check = createOrderCheck('balances');
  const row = (id: string) => ({ customer_id: 'alice', id });
  assert.deepEqual(
    [check([row('a'), row('b')]), check([]), check([row('c')]), check([row('c')]), check([row('d')])],
    [true, true, true, false, false],
  );
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ingestBounds } from '../../../common/src/bounds/ingest.ts';
import { createRepeatCheck } from '../../src/sqlite/imports/repeat-check.ts';

const count = 20_000;

function checked(): ReturnType<typeof createRepeatCheck> {
  const keys = createRepeatCheck();
  for (let number = 0; number < count; number += 1) keys.add(`owner-${number % 7}`, `id-${number}`);
  return keys;
}

test('different keys do not count as repeated, and every repeated key is found', () => {
  assert.equal(checked().mayRepeat(), false);
  for (const number of [0, 1, 4_095, 10_000, count - 1]) {
    const keys = checked();
    keys.add(`owner-${number % 7}`, `id-${number}`);
    assert.equal(keys.mayRepeat(), true, String(number));
  }
});

test('the same id of another owner is another key', () => {
  const keys = createRepeatCheck();
  for (const [owner, id] of [
    ['a', 'b'],
    ['b', 'a'],
    ['b', 'b'],
    ['', 'ab'],
    ['ab', ''],
  ] as const) {
    keys.add(owner, id);
  }
  assert.equal(keys.mayRepeat(), false);
});

test('more keys than are remembered may repeat', () => {
  const keys = createRepeatCheck();
  for (let number = 0; number < ingestBounds.importHashedKeys; number += 1) keys.add('a', String(number));
  assert.equal(keys.mayRepeat(), false);
  keys.add('a', 'one more');
  assert.equal(keys.mayRepeat(), true);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { adminBounds } from '@partner-network/common/bounds/operator';
import { kept } from '../../src/console/counted.ts';

test('a result is kept for a minute, and shown while the next one is found if it is recent', async (t) => {
  let nowMs = 0;
  t.mock.method(performance, 'now', () => nowMs);
  let found = Promise.withResolvers<string>();
  const read = kept(() => found.promise);
  assert.equal(await read(), undefined);
  found.resolve('first');
  assert.equal(await read(), 'first');
  found = Promise.withResolvers<string>();
  for (const [ms, expected] of [
    [adminBounds.keptMs - 1, 'first'],
    [adminBounds.keptMs, 'first'],
    [2 * adminBounds.keptMs, undefined],
  ] as const) {
    nowMs = ms;
    assert.equal(await read(), expected);
  }
  found.resolve('second');
  assert.equal(await read(), 'second');
});

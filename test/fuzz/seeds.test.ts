import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { largestSeed, runTarget, seedAfter } from '../../fuzz/run.ts';

test('a run begins with the seed that was given, and each that it tells can be given again', async (t) => {
  assert.equal(seedAfter(largestSeed, 0), largestSeed);
  let batches = 0;
  const settle = async () => assert.ok(++batches < 2);
  const target = {
    name: 'nothing',
    promise: 'holds once',
    batchRuns: 1,
    open: async () => ({ property: fc.property(fc.nat(), () => {}), settle }),
  };
  const { failure } = await runTarget(target, t, { seed: largestSeed, runs: 3 });
  assert.equal(failure?.seed, 0);
});

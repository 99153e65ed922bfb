/** The targets that need no service: `npm run check -- mutate` runs this file. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { cursors } from '../../checks/fuzz/cursors.ts';
import { parameters } from '../../checks/fuzz/parameters.ts';
import { largestSeed, runTarget, seedAfter } from '../../checks/fuzz/run.ts';
import { holds } from './short-run.ts';

holds(parameters, 600);
holds(cursors, 400);

test('a run begins with the given seed, and every seed that it reports can be given again', async (t) => {
  assert.equal(seedAfter(largestSeed, 0), largestSeed);
  let batches = 0;
  const afterBatch = async () => assert.ok(++batches < 2);
  const target = {
    name: 'nothing',
    promise: 'holds once',
    batchRuns: 1,
    open: async () => ({ property: fc.property(fc.nat(), () => {}), afterBatch }),
  };
  const { failure } = await runTarget(target, t, { seed: largestSeed, runs: 3 });
  assert.equal(failure?.seed, 0);
});

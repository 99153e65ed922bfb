/** A short run of `npm run check -- fuzz`. The seed is fixed, so a failure can be repeated. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { http } from '../../checks/fuzz/http.ts';
import { runTarget } from '../../checks/fuzz/run.ts';

test(`${http.promise} (120 inputs)`, async (t) => {
  const { failure } = await runTarget(http, t, { seed: 6, runs: 120 });
  assert.equal(failure, undefined, 'npm run check -- fuzz --target http --seed 6 --runs 120');
});

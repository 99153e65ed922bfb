/** A short run of one fuzz target. The seed is fixed, so a failure can be repeated. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runTarget, type Target } from '../../checks/fuzz/run.ts';

export function holds(target: Target, runs: number): void {
  test(`${target.promise} (${runs} inputs)`, async (t) => {
    const { failure } = await runTarget(target, t, { seed: 6, runs });
    assert.deepEqual(
      failure,
      undefined,
      `npm run check -- fuzz --target ${target.name} --seed 6 --runs ${runs}`,
    );
  });
}

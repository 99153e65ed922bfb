/** A short run of `npm run check -- fuzz`. The seed is fixed, so a failure can be repeated. */
import { test } from 'node:test';
import { http } from '../../checks/fuzz/http.ts';
import { runTarget } from '../../checks/fuzz/run.ts';

test(`${http.promise} (${http.batchRuns} inputs)`, async (t) => {
  await runTarget(http, t, { seed: 6, untilMs: 0 });
});

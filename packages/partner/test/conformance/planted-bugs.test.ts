/**
 * Conformance finds bugs: between it and a real service stands a proxy that breaks one promise at a time.
 * Each bug has a partner of its own, because the rate limit is per partner.
 *
 * `npm run check -- long` runs all cases for every bug, which takes minutes of CPU. `npm test` runs the case
 * that must catch the bug and a few of every kind, which must not fail.
 */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { basePath } from '@partner-network/contract/operations';
import { createMemoryLimiter } from '../../../service/src/limiter/rate-limit.ts';
import { isLongRun } from '../../../testkit/fixtures/long-run.ts';
import { startTestService } from '../../../testkit/service/service.ts';
import { allCases, runCases } from '../../src/conformance/run.ts';
import { type AllVariables, fillDeployment } from './deployment.ts';
import { bugsInAccess } from './planted-bugs/in-access.ts';
import { bugsInCursors } from './planted-bugs/in-cursors.ts';
import { bugsInFormat } from './planted-bugs/in-format.ts';
import { bugsInHttp, bugsInRate } from './planted-bugs/in-http.ts';
import { bugsInParameters } from './planted-bugs/in-parameters.ts';
import { bugsInRecords } from './planted-bugs/in-records.ts';
import type { Planted } from './planted-bugs/plant.ts';
import { startBuggyProxy } from './planted-bugs/proxy.ts';

const allBugs: readonly Planted[] = [
  ...bugsInRecords,
  ...bugsInParameters,
  ...bugsInCursors,
  ...bugsInAccess,
  ...bugsInHttp,
];
/** `npm test` has time for some bugs of every kind, and for the few in the format of JSON. */
const bugs = [...allBugs.filter((_, index) => isLongRun || index % 4 === 0), ...bugsInFormat];

/** A few cases of every kind, with a dozen requests. The last ones look at all answers. */
const sample = [
  'brands.record.id',
  'brands.all-at-once',
  'brands.reference_id.too-long',
  'balances.type.other',
  'credentials.unknown',
  'grants.any',
  'grants.unknown-id',
  'http.options',
  'http.path.unknown',
  'http.post',
  'http.absolute-form',
  ...allCases.map(({ id }) => id).filter((id) => /^(headers|errors)\./.test(id)),
];

/** A bug may break other promises that rest on the same behaviour, but not everything. */
const mostOthers = 3;

const limits = isLongRun ? { timeout: 900_000 } : {};

test('conformance catches every planted bug by the right case', limits, async (t) => {
  for (const id of sample) assert.ok(isCase(id), id);
  const left: AllVariables[] = [];
  const fill = async (store: Parameters<typeof fillDeployment>[0]) => {
    const names = [...bugs, ...bugsInRate].map((_, index) => `partner-${index}`);
    left.push(...(await fillDeployment(store, names, 60)));
  };
  const limiters = { brands: createMemoryLimiter(50) };
  const { port } = await startTestService(t, { data: { name: 'planted bugs', fill }, limiters });

  const catchIt =
    ({ caughtBy, others = mostOthers, plant }: Planted, isBurst: boolean) =>
    async (t: TestContext) => {
      assert.ok(isCase(caughtBy), caughtBy);
      const supplied = left.pop()!;
      const cases = allCases.filter(
        ({ id }) => isLongRun || id === caughtBy || sample.includes(id) || (isBurst && id === 'burst.rate'),
      );
      const results = await runCases(cases, {
        baseUrl: `http://127.0.0.1:${await startBuggyProxy(t, port, plant, supplied)}${basePath}`,
        supplied,
        isBurst,
        expectedFailures: new Set(),
      });
      const failed = results.filter(({ status }) => status === 'failed').map(({ id }) => id);
      assert.ok(failed.includes(caughtBy), `${caughtBy} must fail, but these failed: ${failed.join(', ')}`);
      assert.ok(failed.length <= 1 + others, `too many cases failed: ${failed.join(', ')}`);
    };

  await t.test('at the pace of every run', { ...limits, concurrency: 24 }, (t) =>
    Promise.all(bugs.map((planted) => t.test(planted.bug, catchIt(planted, false)))).then(() => {}),
  );
  // A burst shows nothing on a busy machine. cases.test.ts judges answers with made-up times instead.
  if (!isLongRun) return;
  await t.test('with --burst', limits, (t) =>
    Promise.all(bugsInRate.map((planted) => t.test(planted.bug, catchIt(planted, true)))).then(() => {}),
  );
});

const isCase = (wanted: string) => allCases.some(({ id }) => id === wanted);

/**
 * Conformance finds bugs: between it and a real service stands a proxy that breaks one promise at a time.
 * Each bug has a partner of its own, because the rate limit is per partner. A correct service conforms in
 * every format of JSON.
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
import { fillDeployment } from './deployment.ts';
import { formats, inFormat } from './planted-bugs/formats.ts';
import { bugsInAnswers } from './planted-bugs/in-answers.ts';
import { bugsInHttp, bugsInRate } from './planted-bugs/in-http.ts';
import { type Bug, startBuggyProxy } from './planted-bugs/proxy.ts';

const allBugs = Object.entries({ ...bugsInAnswers, ...bugsInHttp });
/** `npm test` has time for some bugs of every kind. */
const bugs = allBugs.filter((_, index) => isLongRun || index % 2 === 0);
// A burst shows nothing on a busy machine. cases.test.ts judges answers with made-up times instead.
const bugsInBursts = isLongRun ? Object.entries(bugsInRate) : [];

/** A few cases of every kind, with a dozen requests. The last ones look at all answers. */
const sample = new Set([
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
]);

/** A bug may break other promises that rest on the same behaviour, but not everything. */
const mostFailures = 9;

/** The cases that promise an order of fields. */
const ofOrder = allCases.map(({ id }) => id).filter((id) => /\.(field-order|known-fields)$/.test(id));

const limits = isLongRun ? { timeout: 900_000 } : {};

test('with a proxy in front of a real service', limits, async (t) => {
  const partners = [...bugs, ...bugsInBursts, ...Object.keys(formats)].map((_, index) => `partner-${index}`);
  const left: Awaited<ReturnType<typeof fillDeployment>> = [];
  const data = {
    name: 'planted bugs',
    fill: async (store: Parameters<typeof fillDeployment>[0]) => {
      left.push(...(await fillDeployment(store, partners, 60)));
    },
  };
  const { port } = await startTestService(t, { data, limiters: { brands: createMemoryLimiter(50) } });

  /** The cases that fail behind a proxy with this bug. */
  async function failedOf(t: TestContext, bug: Bug, cases = allCases, isBurst = false) {
    const supplied = left.pop()!;
    const baseUrl = `http://127.0.0.1:${await startBuggyProxy(t, port, bug, supplied)}${basePath}`;
    const results = await runCases(cases, { baseUrl, supplied, isBurst, expectedFailures: new Set() });
    return results.filter(({ status }) => status === 'failed').map(({ id }) => id);
  }

  const catches = (name: string, bug: Bug, isBurst = false) =>
    async function catchesBug(t: TestContext) {
      const caughtBy = name.split(': ')[0]!;
      const isRun = ({ id }: { id: string }) =>
        isLongRun || id === caughtBy || sample.has(id) || (isBurst && id === 'burst.rate');
      const failed = await failedOf(t, bug, allCases.filter(isRun), isBurst);
      assert.ok(failed.includes(caughtBy), `these failed: ${failed.join(', ')}`);
      assert.ok(failed.length <= mostFailures, `too many cases failed: ${failed.join(', ')}`);
    };

  await t.test('the right case catches a planted bug', { ...limits, concurrency: 24 }, async (t) => {
    await Promise.all(bugs.map(([name, bug]) => t.test(name, catches(name, bug))));
  });
  await t.test('a correct service conforms in JSON with', { ...limits, concurrency: 4 }, async (t) => {
    const tests = Object.entries(formats).map(([name, format]) =>
      t.test(name, async (t) => {
        const failed = await failedOf(t, inFormat(format));
        assert.deepEqual(failed.sort(), name === 'fields in another order' ? ofOrder.sort() : []);
      }),
    );
    await Promise.all(tests);
  });
  await t.test('a burst catches a planted bug', limits, async (t) => {
    await Promise.all(bugsInBursts.map(([name, bug]) => t.test(name, catches(name, bug, true))));
  });
});

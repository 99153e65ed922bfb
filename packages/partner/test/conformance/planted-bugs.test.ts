/**
 * Conformance finds bugs: between it and a real service stands a proxy that breaks one promise at a time.
 * Each bug has a partner of its own, because the rate limit is per partner.
 */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { basePath } from '@partner-network/contract/operations';
import { createMemoryLimiter } from '../../../service/src/limiter/rate-limit.ts';
import type { Store } from '../../../store/src/port.ts';
import { startTestService } from '../../../testkit/service/service.ts';
import { allCases, runCases } from '../../src/conformance/run.ts';
import { type Bug, startBuggyProxy } from './buggy-proxy.ts';
import { type AllVariables, fillDeployment } from './deployment.ts';
import { escaped, inFormat, plantedBugs } from './planted-bugs.ts';

/** Other formats of JSON. They are harmless in a correct service. */
const formats: Readonly<Record<string, (value: unknown) => string>> = {
  'slashes with a backslash': (value) => JSON.stringify(value).replaceAll('/', '\\/'),
  'every character escaped': escaped,
  // More than 64 spaces are not a long value that an error repeats.
  'much white space': (value) => JSON.stringify(value, null, 10).replaceAll('\n', `\r\n${' '.repeat(70)}`),
};

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

test('with a proxy in front of a real service', { concurrency: 24 }, async (t) => {
  const left: AllVariables[] = [];
  const names = [...Object.keys(plantedBugs), ...Object.keys(formats)];
  const fill = async (store: Store) => {
    const partners = names.map((_, index) => `partner-${index}`);
    left.push(...(await fillDeployment(store, partners, 60)));
  };
  const limiters = { brands: createMemoryLimiter(50) };
  const { port } = await startTestService(t, { data: { name: 'planted bugs', fill }, limiters });

  /** The cases that fail behind a proxy with this bug. */
  async function failedOf(t: TestContext, bug: Bug, cases = allCases) {
    const supplied = left.pop()!;
    const baseUrl = `http://127.0.0.1:${await startBuggyProxy(t, port, bug, supplied)}${basePath}`;
    const results = await runCases(cases, {
      baseUrl,
      supplied,
      isBurst: false,
      expectedFailures: new Set(),
    });
    return results.filter(({ status }) => status === 'failed').map(({ id }) => id);
  }

  const caught = Object.entries(plantedBugs).map(([name, bug]) =>
    t.test(`a case catches a planted bug: ${name}`, async (t) => {
      const [caughtBy = ''] = name.split(': ');
      const cases = allCases.filter(({ id }) => id === caughtBy || sample.has(id));
      const failed = await failedOf(t, bug, cases);
      assert.ok(failed.includes(caughtBy), `these failed: ${failed.join(', ')}`);
      assert.ok(failed.length <= mostFailures, `too many cases failed: ${failed.join(', ')}`);
    }),
  );
  const harmless = Object.entries(formats).map(([name, format]) =>
    t.test(`a correct service conforms in JSON with ${name}`, async (t) => {
      assert.deepEqual(await failedOf(t, inFormat(format)), []);
    }),
  );
  await Promise.all([...caught, ...harmless]);
});

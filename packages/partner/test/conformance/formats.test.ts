/** A correct service conforms in every format of its JSON: answers are compared by content. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { basePath } from '@partner-network/contract/operations';
import { createMemoryLimiter } from '../../../service/src/limiter/rate-limit.ts';
import type { Store } from '../../../store/src/port.ts';
import { startTestService } from '../../../testkit/service/service.ts';
import { allCases, runCases } from '../../src/conformance/run.ts';
import { type AllVariables, fillDeployment } from './deployment.ts';
import { formats, inFormat } from './planted-bugs/in-format.ts';
import { startBuggyProxy } from './planted-bugs/proxy.ts';

/** The cases that promise an order of fields. */
const ofOrder = [
  ...['brands.record.field-order', 'balances.record.field-order'],
  ...['brands.page.known-fields', 'balances.page.known-fields'],
];

test('a correct service conforms, whatever the format of its JSON', { concurrency: true }, async (t) => {
  const left: AllVariables[] = [];
  const fill = async (store: Store) => {
    const names = Object.keys(formats).map((_, index) => `partner-${index}`);
    left.push(...(await fillDeployment(store, names)));
  };
  const limiters = { brands: createMemoryLimiter(50) };
  const { port } = await startTestService(t, { data: { name: 'formats', fill }, limiters });
  const tests = Object.entries(formats).map(([name, format]) =>
    t.test(name, async (t) => {
      const supplied = left.pop()!;
      const proxyPort = await startBuggyProxy(t, port, inFormat(format), supplied);
      const results = await runCases(allCases, {
        ...{ baseUrl: `http://127.0.0.1:${proxyPort}${basePath}`, supplied, isBurst: false },
        expectedFailures: new Set<string>(),
      });
      const passed = results.filter(({ status, variable }) => status === 'passed' || variable === '--burst');
      const others = results.filter((result) => !passed.includes(result)).map(({ id }) => id);
      assert.deepEqual(others.sort(), name === 'fields in another order' ? ofOrder.sort() : []);
    }),
  );
  await Promise.all(tests);
});

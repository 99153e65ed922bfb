/** The cases against our own service: all of them pass, and without variables or data none fails. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { basePath } from '@partner-network/contract/operations';
import { byTest, keys } from '../../../testkit/fixtures/fixture.ts';
import { startTestService, type TestService } from '../../../testkit/fixtures/service.ts';
import type { CaseResult, Given, Profile } from '../../src/conformance/case.ts';
import { allCases } from '../../src/conformance/cases/index.ts';
import { casesOf, runCases } from '../../src/conformance/run.ts';
import { demoKeys } from '../../src/demo/data.ts';
import { fillWithDemo } from '../../src/demo/fill.ts';
import { importValues } from '../../src/ingest/import.ts';
import { createMemoryLimiter } from '../../src/limiter/memory.ts';
import type { Store } from '../../src/store/port.ts';

const keyOf = (id: string) => demoKeys.find((key) => key.id === id)!.text;

const everything = {
  PARTNER_NETWORK_API_KEY: keyOf('KEY_NORTHWIND'),
  PARTNER_NETWORK_CUSTOMER_ID: 'CUSTOMER_1005',
  PARTNER_NETWORK_GRANT_ID: 'GRANT_1005',
  PARTNER_NETWORK_CUSTOMER_ID_WITHOUT_GRANT: 'CUSTOMER_1010',
  PARTNER_NETWORK_BRANDS_ONLY_API_KEY: keyOf('KEY_NORTHWIND_BRANDS'),
  PARTNER_NETWORK_OTHER_PARTNER_API_KEY: keyOf('KEY_BLUEBIRD'),
  PARTNER_NETWORK_REVOKED_API_KEY: keyOf('KEY_NORTHWIND_REVOKED'),
  PARTNER_NETWORK_EXPIRED_API_KEY: keyOf('KEY_NORTHWIND_EXPIRED'),
  PARTNER_NETWORK_OTHER_ENVIRONMENT_API_KEY: keys.live,
};

/** The demo data, and two brands with the same reference_id. */
async function fill(store: Store): Promise<void> {
  await fillWithDemo(store, byTest);
  const again = { name: 'Again', reference_id: 'shop-7' };
  await importValues(store, 'brands', [{ id: 'again', ...again }], 'PARTNER_NORTHWIND');
}

function startDemo(t: TestContext): Promise<TestService> {
  const data = { name: 'conformance', fill };
  return startTestService(t, { data, limiters: { brands: createMemoryLimiter(50) } });
}

function check(service: TestService, profile: Profile, given: Given, isBurst = false) {
  const baseUrl = `http://127.0.0.1:${service.port}${basePath}`;
  return runCases(casesOf(allCases, profile), { baseUrl, given, isBurst, expectedFailures: new Set() });
}

const withStatus = (results: readonly CaseResult[], status: CaseResult['status']) =>
  results.filter((one) => one.status === status);

test('every case has its own id and a section, and there are at least 60', () => {
  const ids = allCases.map(({ id }) => id);
  assert.equal(new Set(ids).size, ids.length);
  assert.ok(ids.length >= 60);
  for (const { id, section, title } of allCases) {
    assert.match(id, /^[a-z]+(\.[a-z0-9_-]+)+$/);
    assert.ok(section !== '' && title !== '');
  }
});

test('with every variable, all cases pass on our own service', async (t) => {
  const service = await startDemo(t);
  let requests = 0;
  service.server.on('request', () => {
    requests += 1;
  });
  const results = await check(service, 'decisions', everything, process.env.BURST !== undefined);
  console.log(requests, results.length, performance.now());
  for (const one of results) if (one.status !== 'passed') console.log(one);
  assert.deepEqual(withStatus(results, 'failed'), []);
});

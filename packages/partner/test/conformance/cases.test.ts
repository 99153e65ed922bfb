/** The cases against a deployment with few records, and a service that follows the specification alone. */
import assert from 'node:assert/strict';
import { createServer, type RequestListener } from 'node:http';
import { suite, test } from 'node:test';
import { basePath } from '@partner-network/contract/operations';
import { importValues } from '../../../operator/src/ingest/import.ts';
import { digestOfKey } from '../../../service/src/auth.ts';
import { createMemoryLimiter } from '../../../service/src/limiter/rate-limit.ts';
import type { Store } from '../../../store/src/port.ts';
import { byTest, createdAt, keys } from '../../../testkit/fixtures/fixture.ts';
import { listenOnAnyPort } from '../../../testkit/servers/free-port.ts';
import { startTestService } from '../../../testkit/service/service.ts';
import type { Case } from '../../src/conformance/case.ts';
import { type Probe, type Supplied, variables } from '../../src/conformance/probe.ts';
import type { CaseResult } from '../../src/conformance/report.ts';
import { allCases, casesOf, runCases } from '../../src/conformance/run.ts';
import { Skip } from '../../src/conformance/send.ts';
import { createOtherImplementation, supplied as suppliedToOther } from './other-implementation.ts';

/** A partner without brands, and its grant of a customer with one balance. */
async function fill(store: Store): Promise<void> {
  await store.createPartner({ id: 'empty', name: 'Empty', created_at: createdAt }, byTest);
  const key = { id: 'KEY_EMPTY', partner_id: 'empty', last_four: keys.acme.slice(-4), created_at: createdAt };
  const scopes = ['BALANCES_READ', 'BRANDS_READ'] as const;
  await store.createKey({ ...key, scopes }, digestOfKey(keys.acme), byTest);
  await importValues(store, 'grants', [{ id: 'g', partner_id: 'empty', customer_id: 'alice' }]);
  const balance = { customer_id: 'alice', type: 'CHECKING', currency: 'USD', amount: 1 };
  await importValues(store, 'balances', [balance]);
}

function check(port: number, supplied: Supplied, cases: readonly Case[]): Promise<readonly CaseResult[]> {
  const baseUrl = `http://127.0.0.1:${port}${basePath}`;
  return runCases(cases, { baseUrl, supplied, isBurst: false, expectedFailures: new Set() });
}

const everything = Object.fromEntries(Object.keys(variables).map((name) => [name, `value-of-${name}`]));

const notPassed = (results: readonly CaseResult[]) => results.filter(({ status }) => status !== 'passed');
const idsOf = (results: readonly CaseResult[], status: CaseResult['status']) =>
  results.filter((one) => one.status === status).map(({ id }) => id);

test('a burst shows 51 admissions in a second, and an answer that is neither 200 nor 429', async () => {
  const answersOf = (count: number, status: number, tookMs: number) =>
    Array.from({ length: count }, (_, index) => ({ status, sentMs: index, answeredMs: index + tookMs }));
  const judged = async (id: string, answers: readonly object[]) => {
    const probe = { answers, once: async () => answers } as unknown as Probe;
    const { check } = allCases.find((one) => one.id === id)!;
    const broken = await check(probe).catch((error: Error) => error);
    if (broken === undefined) return 'passed';
    return broken instanceof Skip ? 'skipped' : 'failed';
  };
  for (const [answers, expected] of [
    [answersOf(50, 200, 10), 'passed'],
    [answersOf(51, 200, 10), 'failed'],
    // They may have been admitted in two seconds.
    [answersOf(70, 200, 1_000), 'passed'],
  ] as const) {
    assert.equal(await judged('burst.rate', answers), expected);
  }
  const prompt = answersOf(1, 200, 1);
  assert.equal(await judged('burst.refused', [...prompt, ...answersOf(20, 429, 1)]), 'passed');
  assert.equal(await judged('burst.refused', [...prompt, ...answersOf(1, 503, 2)]), 'failed');
  assert.equal(await judged('burst.refused', [...prompt, ...answersOf(1, 503, 200)]), 'skipped');
  assert.equal(await judged('burst.refused', [...prompt, ...answersOf(1, 403, 200)]), 'failed');
});

test('every case has its own id', () => {
  const ids = allCases.map(({ id }) => id);
  assert.equal(new Set(ids).size, ids.length);
  assert.ok(ids.length >= 120);
  for (const id of ids) assert.match(id, /^[a-z]+(\.[a-z0-9_-]+)+$/);
});

const wrongRecord = {
  updated_at: '2020-01-01',
  id: 'b',
  created_at: '2026-02-30T00:00:00Z',
  name: null,
  reference_id: '\u0007',
  amount: 1.5,
  color: 5,
  profile_image_url: 5,
  metadata: { a: 1 },
};

/** Deployments that are wrong throughout. */
const wrong = {
  'refuses everything': ({ url = '', method, headers }, response) => {
    response.setHeader('X-Request-Id', headers['x-request-id'] ?? 'always the same');
    response.setHeader('Retry-After', '0');
    if (method === 'POST') response.statusCode = 405;
    else if (headers.authorization === undefined) response.statusCode = 401;
    else response.statusCode = url.endsWith('/none') ? 429 : 400;
    response.end(JSON.stringify({ errors: [{ url }] }));
  },
  'accepts everything': ({ url = '' }, response) => {
    const name = url.includes('balances') ? 'balances' : 'brands';
    response.setHeader('Access-Control-Allow-Origin', '*');
    const cursor = url.includes('cursor=') ? null : 'a';
    response.end(JSON.stringify({ more: 1, cursor, [name]: [wrongRecord, {}] }));
  },
} satisfies Readonly<Record<string, RequestListener>>;

/** Promises about several pages that are wrong in the same way. A planted bug breaks each of them. */
const sameWrongPages = /\.(page\.(not-empty|default-limit|largest-limit)|walk\.complete)$/;

// At the same time: a run mostly waits, to send at most 40 requests in a second.
suite('the cases of a run', { concurrency: true }, () => {
  test('with few variables and without data, cases are skipped with a reason and none fails', async (t) => {
    const limiters = { brands: createMemoryLimiter(50) };
    const { port } = await startTestService(t, { data: { name: 'empty', fill }, limiters });
    const few = { PARTNER_NETWORK_API_KEY: keys.acme, PARTNER_NETWORK_CUSTOMER_ID: 'alice' };
    const results = notPassed(await check(port, few, allCases));
    assert.deepEqual(idsOf(results, 'failed'), []);
    const reasons = new Set(results.map(({ variable }) => variable));
    for (const missing of [
      'at least one record of brands',
      'at least two records of balances',
      'PARTNER_NETWORK_GRANT_ID',
    ])
      assert.ok(reasons.has(missing), missing);
  });

  test('every case fails if a deployment is wrong throughout', async (t) => {
    const failedAt = async (deployment: keyof typeof wrong) => {
      const port = await listenOnAnyPort(t, createServer(wrong[deployment]));
      return idsOf(await check(port, everything, allCases), 'failed');
    };
    const [refusing, accepting] = await Promise.all([
      failedAt('refuses everything'),
      failedAt('accepts everything'),
    ]);
    const all = allCases.map(({ id }) => id).filter((id) => !id.startsWith('burst'));
    const failed = new Set([...refusing, ...accepting]);
    assert.deepEqual(
      all.filter((id) => !failed.has(id)),
      [],
    );
    // A deployment without pages proves nothing about what pages hold.
    const ofPages = all.filter((id) => /\.(record|page|walk|filter)\./.test(id) && !sameWrongPages.test(id));
    assert.deepEqual(
      ofPages.filter((id) => !accepting.includes(id)),
      [],
    );
  });

  test('a service that follows the specification alone passes its profile', async (t) => {
    const port = await listenOnAnyPort(t, createOtherImplementation());
    assert.deepEqual(notPassed(await check(port, suppliedToOther, casesOf('specification'))), []);
    const encoded = allCases.filter(({ id }) => id === 'brands.cursor.other-limit');
    assert.deepEqual(notPassed(await check(port, suppliedToOther, encoded)), []);
  });
});

/** Each scenario over HTTP: what happens, and that a client that does the right thing keeps all promises. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { balances as balanceRows, keys } from '../../../testkit/fixtures/fixture.ts';
import { type Answer, errorsOf } from '../../../testkit/fixtures/http.ts';
import { pluck } from '../../../testkit/fixtures/pluck.ts';
import { startTestService } from '../../../testkit/service/service.ts';
import { assertDocumented } from '../../../testkit/watch/documented.ts';
import { createMemoryLimiter } from '../../src/limiter/rate-limit.ts';
import { type ScenarioName, scenarioNames, scenarios } from '../../src/rehearsals/scenarios.ts';
import { balances, brands, notKept, verdictOf, walk } from './client.ts';

const off = 'broken off';
const all = [200, 200, 200];

/** What a walk over three pages gets. */
const expected: Record<ScenarioName, (number | string)[]> = {
  steady: all,
  'rate-limited': [200, 429, 200, 429, 200],
  unavailable: [200, 503, 503, 200, 200],
  'server-error': [200, 500, 200, 200],
  'bad-gateway': [200, 502, 200, 200],
  torn: [200, off, 200, 200],
  stalled: [200, off, 200, 200],
  'expired-cursor': [200, 200, 400, ...all],
  'key-revoked': [200, 401],
  'grant-revoked': [200, 403],
  'unknown-error': [200, 400],
  'new-fields': all,
  'short-pages': all,
  redirect: [200, 307],
};

const rehearsals = {};

test('a polite client keeps all promises in every scenario', async (t) => {
  const service = await startTestService(t, { rehearsals });
  const rows: { id: string }[] = balanceRows.slice(0, 3);
  await Promise.all(
    scenarioNames.map(async (name) => {
      // Half of the limit is one record.
      const asked = name === 'short-pages' ? balances.replace('limit=1', 'limit=2') : balances;
      const walked = await walk(service.port, `${name}.polite`, asked);
      const verdict = await verdictOf(service, `${name}.polite`);
      assert.deepEqual(
        [walked.statuses, notKept(verdict), verdict.requests.length],
        [expected[name], {}, expected[name].length],
        `${name}: ${JSON.stringify(verdict)}`,
      );
      if (expected[name].at(-1) === 200) assert.deepEqual(walked.ids, pluck(rows, 'id'), name);
    }),
  );
});

test('a run is the same with its name and without, if the name is default', async (t) => {
  const service = await startTestService(t, { rehearsals });
  await service.call(`/rehearsals/server-error${brands}`, { key: keys.acme });
  const second = await service.call(`/rehearsals/server-error.default${brands}`, { key: keys.acme });
  assert.equal(second.status, 500);
  assert.deepEqual(
    await verdictOf(service, 'server-error'),
    await verdictOf(service, 'server-error.default'),
  );
});

/** The second response of a run. */
async function secondOf(service: Awaited<ReturnType<typeof startTestService>>, run: string, path: string) {
  await service.call(`/rehearsals/${run}${path}`, { key: keys.acme });
  return service.call(`/rehearsals/${run}${path}`, { key: keys.acme });
}

test('the errors of rehearsals are those of the service, to the last header', async (t) => {
  const limiters = { brands: createMemoryLimiter(50) };
  const service = await startTestService(t, { rehearsals, limiters });
  const documented = async (answer: Answer, code: string) => {
    assertDocumented(answer, 'GET', '/network/v1/brands');
    assert.deepEqual(pluck(errorsOf(answer), 'code'), [code]);
  };
  const limited = await secondOf(service, 'rate-limited', brands);
  await documented(limited, 'RATE_LIMITED');
  assert.equal(limited.headers.ratelimit, '"brands";r=0;t=1');
  assert.equal(limited.headers['ratelimit-policy'], '"brands";q=50;w=1');
  assert.equal(limited.headers['retry-after'], '1');
  assert.equal(limited.headers['retry-after-ms'], '500');
  await documented(await secondOf(service, 'unavailable', brands), 'SERVICE_UNAVAILABLE');
  const failed = await secondOf(service, 'server-error', brands);
  await documented(failed, 'INTERNAL_SERVER_ERROR');
  assert.ok(errorsOf(failed)[0]!.detail.includes(failed.headers['x-request-id'] as string));
  await documented(await secondOf(service, 'key-revoked', brands), 'API_KEY_REVOKED');

  const unlimited = await secondOf(service, 'rate-limited', balances);
  assertDocumented(unlimited, 'GET', '/network/v1/balances');
  assert.equal(unlimited.headers.ratelimit, '"balances";r=0;t=1');
  // The next page, because a grant is revoked from page 2 on.
  for (const [query, field] of [
    ['', undefined],
    ['&grant_id=g-active', 'grant_id'],
  ] as const) {
    const run = `grant-revoked.${field ?? 'any'}`;
    const first = await service.call(`/rehearsals/${run}${balances}${query}`, { key: keys.acme });
    const next = `${balances}${query}&cursor=${JSON.parse(first.text).cursor}`;
    const revoked = await service.call(`/rehearsals/${run}${next}`, { key: keys.acme });
    assertDocumented(revoked, 'GET', '/network/v1/balances');
    assert.deepEqual(pluck(errorsOf(revoked), 'field'), [field]);
    const again = await service.call(`/rehearsals/${run}${balances}`, { key: keys.acme });
    assert.equal(again.status, 403, 'a revoked grant stays revoked');
  }
});

test('unknown-error has a category and a code that do not exist', async (t) => {
  const service = await startTestService(t, { rehearsals });
  const unknown = await secondOf(service, 'unknown-error', brands);
  assert.throws(() => assertDocumented(unknown, 'GET', '/network/v1/brands'), /category/);
  const [error] = errorsOf(unknown);
  assert.deepEqual([unknown.status, typeof error?.code, typeof error?.detail], [400, 'string', 'string']);
});

test('new-fields adds fields to records, page and headers, and changes nothing else', async (t) => {
  const service = await startTestService(t, { rehearsals });
  const plain = await service.brands('?limit=2', { key: keys.acme });
  const path = '/rehearsals/new-fields/network/v1/brands?limit=2';
  const added = await service.call(path, { key: keys.acme });
  assert.ok('x-new-header' in added.headers);
  const page = JSON.parse(added.text);
  assert.ok('new_page_field' in page);
  for (const [index, record] of page.brands.entries()) {
    const { new_field, new_object, new_null, ...rest } = record;
    assert.deepEqual([typeof new_field, typeof new_object, new_null], ['string', 'object', null]);
    assert.deepEqual(rest, JSON.parse(plain.text).brands[index]);
  }
});

test('short-pages has fewer records than limit, and a cursor', async (t) => {
  const service = await startTestService(t, { rehearsals });
  const recordsOf = async (query: string) => {
    const path = `/rehearsals/short-pages/network/v1/brands${query}`;
    const { status, text } = await service.call(path, { key: keys.acme });
    const page = JSON.parse(text);
    return status === 200 ? [page.brands.length, page.cursor !== undefined] : [status];
  };
  assert.deepEqual(await recordsOf('?limit=3'), [1, true]);
  assert.deepEqual(await recordsOf('?limit=2'), [1, true]);
  assert.deepEqual(await recordsOf(''), [3, false]);
  assert.deepEqual(await recordsOf('?limit=1'), [1, true], 'a page has one record at least');
  // Invalid limits are refused as usual.
  for (const query of ['?limit=101', '?limit=2&limit=2', '?limit=0', '?limit=x']) {
    assert.deepEqual(await recordsOf(query), [400], query);
  }
});

test('GET /rehearsals lists all scenarios without a key, and leads a browser to their guide', async (t) => {
  const service = await startTestService(t, { rehearsals });
  const { status, headers, text } = await service.call('/rehearsals');
  assert.equal(status, 200);
  assert.equal(headers['content-type'], 'application/json; charset=utf-8');
  assert.equal(headers['cache-control'], 'no-store');
  const list: { name: string }[] = JSON.parse(text).scenarios;
  assert.deepEqual(
    list,
    scenarioNames.map((name) => ({ name, ...scenarios[name] })),
  );
  const browser = await service.call('/rehearsals', { headers: { accept: 'text/html,*/*;q=0.8' } });
  assert.equal(browser.status, 303);
  const { pathname, hash } = new URL(browser.headers.location!, 'http://127.0.0.1/rehearsals');
  const { text: guide } = await service.call(pathname);
  assert.ok(guide.includes(` id="${hash.slice(1)}"`));
});

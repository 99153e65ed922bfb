/** How a request finds its route, and what is left of it: an id, a log line and nothing else. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keys } from '../../testkit/fixtures/fixture.ts';
import { assertRefused } from '../../testkit/fixtures/http.ts';
import { brands, pageAfter, startSite } from './site.ts';

const unknownPaths = `
  /network/v1 /network/v1/ /network/v2/brands /constructor /__proto__
  /network/v1/brands/ /network/v1/Brands /NETWORK/v1/brands //network/v1/brands
  /network/v1/./brands /network/v1/x/../brands /network/v1/br%61nds
  /network/v1/brands%3Flimit=1 /network/v1/brands;a=b /network/v1/%zz
`
  .trim()
  .split(/\s+/);

test('anything but an exact path is NOT_FOUND, with and without a key, for every method', async (t) => {
  const { call } = await startSite(t);
  for (const path of unknownPaths) {
    assertRefused(await call(path), 404, 'NOT_FOUND');
    assertRefused(await call(path, { key: keys.acme }), 404, 'NOT_FOUND');
    assertRefused(await call(path, { method: 'DELETE' }), 404, 'NOT_FOUND');
    assertRefused(await call(path, { method: 'OPTIONS' }), 404, 'NOT_FOUND');
    assert.equal((await call(path, { method: 'HEAD' })).status, 404);
  }
});

test('answers METHOD_NOT_ALLOWED to every other method, and OPTIONS with the methods', async (t) => {
  const { call } = await startSite(t);
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'TRACE', 'PROPFIND', 'QUERY']) {
    const answer = await call(brands, { method });
    assertRefused(answer, 405, 'METHOD_NOT_ALLOWED');
    assert.equal(answer.headers.allow, 'GET, HEAD, OPTIONS');
  }
  const { status, headers, text } = await call(`${brands}?anything=goes`, { method: 'OPTIONS' });
  assert.deepEqual([status, headers.allow, text], [204, 'GET, HEAD, OPTIONS', '']);
});

test('each response has a new request id that begins with the time, whatever the client sends', async (t) => {
  const { call } = await startSite(t);
  const ids = new Set<string>();
  const startedMs = Date.now();
  for (const mine of ['mine', 'mine']) {
    const { headers } = await call(brands, { headers: { 'X-Request-Id': mine } });
    ids.add(String(headers['x-request-id']));
  }
  assert.equal(ids.size, 2);
  for (const id of ids) {
    assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    const atMs = Number.parseInt(id.replace('-', '').slice(0, 12), 16);
    assert.ok(atMs >= startedMs && atMs <= Date.now());
  }
});

test('a fault after the response is sent is logged, and does not end the process', async (t) => {
  const sent = () => {
    throw new Error('no receipt');
  };
  const { call, lines } = await startSite(t, { routes: { [brands]: { ...pageAfter(() => {}), sent } } });
  for (let times = 0; times < 2; times += 1) {
    const { status, headers } = await call(brands);
    assert.equal(status, 200);
    const { level, request_id, err } = lines().at(-1);
    assert.deepEqual([level, request_id, err.message], [50, headers['x-request-id'], 'no receipt']);
  }
});

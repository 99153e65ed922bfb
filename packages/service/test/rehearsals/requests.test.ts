/** Which requests are rehearsed, which are not, and where a key may be. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keys } from '../../../testkit/fixtures/fixture.ts';
import { assertRefused } from '../../../testkit/fixtures/http.ts';
import { seen } from '../../../testkit/fixtures/tenants.ts';
import { startTestService } from '../../../testkit/service/service.ts';
import { brands, get, notKept, urlOf, verdictOf } from './client.ts';

const key = keys.acme;
const longest = 'aZ09_-'.repeat(11).slice(0, 64);

test('other paths are unknown, byte for byte', async (t) => {
  const service = await startTestService(t, { rehearsals: {} });
  const unknown = seen(await service.call('/nowhere', { key }));
  const unknownOfApi = seen(await service.call('/nowhere/v1/', { key }));
  for (const path of [
    '/rehearsals/',
    '/rehearsalsteady',
    '/rehearsals/nothing',
    `/rehearsals/nothing${brands}`,
    `/rehearsals/constructor${brands}`,
    '/rehearsals/steady/',
    '/rehearsals/steady.',
    `/rehearsals/steady.${brands}`,
    `/rehearsals/steady.a.b${brands}`,
    `/rehearsals/steady.${longest}x${brands}`,
    `/rehearsals/steady.%61${brands}`,
    `/rehearsals/Steady${brands}`,
    '/rehearsals/steady/network/v1',
    '/rehearsals/steady/network/v1/',
    '/rehearsals/steady/network/v1/brands/',
    '/rehearsals/steady/network/v2/brands',
    '/rehearsals/steady/docs',
    '/rehearsals/steady/rehearsals/steady/network/v1/brands',
  ]) {
    const expected = path.includes('/v1/') ? unknownOfApi : unknown;
    assert.deepEqual(seen(await service.call(path, { key })), expected, path);
  }
});

test('a path of a rehearsal answers as the path itself', async (t) => {
  const service = await startTestService(t, { rehearsals: {} });
  for (const [path, method] of [
    [brands, 'GET'],
    [brands, 'HEAD'],
    [brands, 'OPTIONS'],
    [brands, 'POST'],
    ['/network/v1/brands?limit=0&nothing=1', 'GET'],
    ['/network/v1/balances', 'GET'],
    ['/network/v1/openapi.json', 'GET'],
  ] as const) {
    const usual = seen(await service.call(path, { key, method }));
    const rehearsed = seen(await service.call(`/rehearsals/steady.${longest}${path}`, { key, method }));
    // Two cursors of one page differ.
    const strip = ({ text, ...rest }: typeof usual) => ({
      ...rest,
      text: text.replace(/"cursor":"[^"]*"/, ''),
    });
    assert.deepEqual(strip(rehearsed), strip(usual), `${method} ${path}`);
  }
  const absolute =
    'GET http://proxy.example/rehearsals/server-error.abs/network/v1/brands HTTP/1.1\r\nHost: a\r\n';
  const twice = `${absolute}Authorization: Bearer ${key}\r\n\r\n`
    .repeat(2)
    .replace(/\r\n\r\n$/, '\r\nConnection: close\r\n\r\n');
  assert.match(await service.raw(twice), /HTTP\/1\.1 200 .*HTTP\/1\.1 500 /s);
});

test('a verdict needs a valid key of any scope', async (t) => {
  const service = await startTestService(t, { rehearsals: {} });
  const path = '/rehearsals/steady.a?any=query';
  assert.equal((await service.call(path, { key: keys.acmeBrandsOnly })).status, 200);
  assertRefused(await service.call(path), 401, 'UNAUTHORIZED');
  assertRefused(await service.call(path, { key: keys.neverIssued }), 401, 'UNAUTHORIZED');
  assertRefused(await service.call(path, { key: keys.acmeRevoked }), 401, 'API_KEY_REVOKED');
  assertRefused(await service.call(path, { key: keys.acmeExpired }), 401, 'API_KEY_EXPIRED');
  assertRefused(await service.call(path, { key: keys.closed }), 403, 'PARTNER_DISABLED');
  assertRefused(await service.call(path, { key: keys.live }), 401, 'API_KEY_ENVIRONMENT_MISMATCH');
  assertRefused(await service.call(path, { key, method: 'POST' }), 405, 'METHOD_NOT_ALLOWED');
  assert.equal((await service.call(path, { key, method: 'OPTIONS' })).status, 204);
  const head = await service.call(path, { key, method: 'HEAD' });
  assert.deepEqual([head.status, head.text, head.headers['cache-control']], [200, '', 'no-store']);
  assert.equal(head.headers['content-type'], 'application/json; charset=utf-8');
});

test('only pages that would be sent are numbered; every request is judged', async (t) => {
  const service = await startTestService(t, { rehearsals: {} });
  const call = (path: string, method = 'GET') =>
    service.call(`/rehearsals/server-error.n${path}`, { key, method });
  const statuses = [
    (await call('/network/v1/brands?limit=0')).status,
    (await call('/network/v1/openapi.json')).status,
    (await call(brands, 'HEAD')).status,
    (await call(brands)).status,
    (await call(brands, 'HEAD')).status,
    (await call(brands)).status,
    (await call(brands)).status,
  ];
  assert.deepEqual(statuses, [400, 200, 200, 200, 200, 500, 200]);
  const verdict = await verdictOf(service, 'server-error.n');
  assert.deepEqual(
    verdict.requests.map(({ status }) => status),
    statuses,
  );
  assert.equal(notKept(verdict)['stopped-on-final-errors'], 'broken');
});

test('nothing is kept of a request without a known key', async (t) => {
  const service = await startTestService(t, { rehearsals: {} });
  const path = `/rehearsals/key-revoked${brands}`;
  for (const unknown of [undefined, keys.neverIssued, 'no-key']) {
    assertRefused(await service.call(path, { key: unknown }), 401, 'UNAUTHORIZED');
  }
  assert.equal((await service.call(path, { key })).status, 200);
  assert.equal((await verdictOf(service, 'key-revoked')).requests.length, 1);
});

test('a revoked key is refused and judged: the next request breaks a promise', async (t) => {
  const service = await startTestService(t, { rehearsals: {} });
  const path = `/rehearsals/steady${brands}`;
  assertRefused(await service.call(path, { key: keys.acmeRevoked }), 401, 'API_KEY_REVOKED');
  assert.equal((await service.call(path, { key })).status, 200);
  assert.equal(notKept(await verdictOf(service, 'steady'))['stopped-on-final-errors'], 'broken');
});

test('a key in any place but Authorization is judged, and never shown', async (t) => {
  const service = await startTestService(t, { rehearsals: {} });
  const encoded = [...key].map((letter) => `%${letter.charCodeAt(0).toString(16)}`).join('');
  const places: Record<string, [path: string, headers: Record<string, string>]> = {
    query: [`${brands}&api_key=${key}`, {}],
    'query-and-header': [`${brands}&api_key=${key}`, { Authorization: `Bearer ${key}` }],
    encoded: [`${brands}&api_key=${encoded}`, { Authorization: `Bearer ${key}` }],
    cursor: [`${brands}&cursor=${key}`, { Authorization: `Bearer ${key}` }],
    path: [`/network/v1/${key}`, { Authorization: `Bearer ${key}` }],
    header: [brands, { 'X-Api-Key': key }],
    cookie: [brands, { Authorization: `Bearer ${key}`, Cookie: `session=${key}` }],
    [key]: [brands, { Authorization: `Bearer ${key}` }],
  };
  for (const [run, [path, headers]] of Object.entries(places)) {
    await service.call(`/rehearsals/steady.${run}${path}`, { headers });
    const { text } = await service.call(`/rehearsals/steady.${run}`, { key });
    assert.ok(!text.includes(key.slice(8, 40)) && !text.includes(encoded), run);
    const verdict = JSON.parse(text);
    assert.equal(verdict.requests.length, 1, run);
    assert.equal(notKept(verdict)['kept-its-key'], 'broken', run);
  }
  // Without `Bearer` it is refused, and still in the right place.
  await service.call(`/rehearsals/steady.bare${brands}`, { headers: { Authorization: key } });
  assert.equal(notKept(await verdictOf(service, 'steady.bare'))['kept-its-key'], undefined);
});

test('a fault is logged once, without secrets, beside the response that the service made', async (t) => {
  const service = await startTestService(t, { rehearsals: {} });
  for (const run of ['server-error.ci', `server-error.${key}`]) {
    await service.call(`/rehearsals/${run}${brands}`, { key });
    const { headers } = await service.call(`/rehearsals/${run}${brands}`, { key });
    const { level, scenario, run: shown, fault, request_id } = service.lines().at(-1);
    const expected = [30, 'server-error', run.endsWith('ci') ? 'ci' : '[key]', 500, headers['x-request-id']];
    assert.deepEqual([level, scenario, shown, fault, request_id], expected);
  }
  const { msg, status, request_id } = service.lines().at(-2);
  assert.deepEqual([msg, status, request_id], ['request', 200, service.lines().at(-1).request_id]);
  const faults = service.lines().filter((line: { msg: string }) => line.msg === 'rehearsal');
  assert.equal(faults.length, 2);
  assert.ok(!service.logs().includes(key));
});

test('redirect leads to another origin, which has no data and judges where the key is', async (t) => {
  const service = await startTestService(t, { rehearsals: {} });
  const redirect = async (run: string) => {
    await get(urlOf(service.port, run) + brands);
    const answer = await get(`${urlOf(service.port, run)}${brands}&reference_id=ref%20one`);
    assert.equal(answer.status, 307);
    return answer.headers.get('location')!;
  };
  const location = await redirect('redirect.without');
  const { origin, pathname, search } = new URL(location);
  assert.notEqual(origin, `http://127.0.0.1:${service.port}`);
  assert.match(pathname, /^\/[0-9a-f-]{36}\/network\/v1\/brands$/);
  assert.equal(search, '?limit=1&reference_id=ref%20one');
  const bare = await fetch(location);
  assert.equal(bare.status, 404);
  assert.match(await bare.text(), /"code":"NOT_FOUND"/);
  const verdict = await verdictOf(service, 'redirect.without');
  assert.deepEqual(notKept(verdict), {});
  assert.deepEqual(verdict.requests.at(-1), {
    ...verdict.requests.at(-1),
    path: `${origin}/network/v1/brands?limit=1&reference_id=ref%20one`,
    status: 404,
  });

  for (const send of [
    (url: string) => get(url),
    (url: string) => fetch(`${url}&key=${key}`),
    (url: string) => fetch(url, { headers: { 'X-Api-Key': key } }),
  ]) {
    const run = `redirect.with${send}`.replace(/\W/g, '').slice(8, 40);
    await send(await redirect(`redirect.${run}`));
    assert.deepEqual(notKept(await verdictOf(service, `redirect.${run}`)), { 'kept-its-key': 'broken' });
  }
  // Nothing is known of other addresses there.
  assert.equal((await get(`${origin}/`)).status, 404);
  assert.equal((await get(`${origin}/other/network/v1/brands`)).status, 404);
});

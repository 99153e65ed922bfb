/** Signing in to the console, and what an attacker may try. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { test } from 'node:test';
import { adminKeyOf, digestOfKey } from '../../../service/src/auth.ts';
import { createCursors } from '../../../service/src/cursors.ts';
import { adminKeys } from '../../../testkit/admin/started.ts';
import { byTest, createdAt, keys, past } from '../../../testkit/fixtures/fixture.ts';
import { returnPath, setCookie } from '../../src/console/session.ts';
import { createKeyUntil } from '../admin/scene.ts';
import { consoleScene } from './scene.ts';

const policy =
  "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; frame-ancestors 'none'; " +
  "base-uri 'none'";

test('the first page says how to create a key, and the start of the service leads there', async (t) => {
  const browser = (await consoleScene(t)).open();
  const start = await browser.get('/');
  assert.deepEqual([start.status, start.to], [303, '/console']);
  const { status, text } = await browser.get('/console');
  assert.equal(status, 200);
  assert.match(text, /partner-network admin-keys create --name your-name --role SUPPORT/);
});

test('every page has the headers that keep it private and harmless', async (t) => {
  const { open, as } = await consoleScene(t);
  const stranger = open();
  const viewer = await as('VIEWER');
  for (const [status, answer] of [
    [200, stranger.get('/console')],
    [401, stranger.get('/console/partners/acme')],
    [401, stranger.signIn('wrong')],
    [200, viewer.get('/console/partners/acme')],
    [404, viewer.get('/console/partners/nobody')],
  ] as const) {
    const { headers, text, ...answered } = await answer;
    assert.equal(answered.status, status);
    assert.equal(headers.get('content-security-policy'), policy);
    assert.equal(headers.get('cache-control'), 'no-store');
    assert.equal(headers.get('x-content-type-options'), 'nosniff');
    assert.equal(headers.get('referrer-policy'), 'same-origin');
    assert.match(headers.get('x-request-id') ?? '', /^[0-9a-f-]{36}$/);
    assert.doesNotMatch(text, /<script|style="|javascript:|https?:/i);
  }
});

test('a key is exchanged for a cookie of 8 hours, and is in no page', async (t) => {
  const { open, lines } = await consoleScene(t);
  const browser = open();
  const answer = await browser.signIn(` ${adminKeys.SUPPORT} `, '/console/partners/acme?keys=1');
  assert.deepEqual([answer.status, answer.to], [303, '/console/partners/acme?keys=1']);
  assert.match(
    answer.headers.getSetCookie().join(),
    /^partner_network_console=[\w-]+; HttpOnly; SameSite=Strict; Path=\/console; Max-Age=28800$/,
  );
  const { text } = await browser.get('/console');
  assert.ok(!text.includes(adminKeys.SUPPORT.slice(9, 40)) && !browser.cookie.includes('ADMIN_SUPPORT'));
  const { key_id, status } = lines().find(({ operation }) => operation === 'consoleSignIn');
  assert.deepEqual([key_id, status], ['ADMIN_SUPPORT', 303]);
});

test('the cookie is Secure unless the public address is http on a loopback host', () => {
  const isSecure = (url: string) => {
    const headers: string[] = [];
    setCookie({ headers }, url, { name: 'name', ms: 0 }, 'x');
    return headers[1]!.endsWith('; Secure');
  };
  const local = ['http://127.0.0.1:8090', 'http://localhost:1', 'http://[::1]:80', 'http://127.1.2.3'];
  assert.deepEqual(local.filter(isSecure), []);
  const others = [
    'https://localhost',
    'http://admin.example',
    'http://localhost.example',
    'https://a.example',
  ];
  assert.deepEqual(others.filter(isSecure), others);
});

test('keys that may not sign in are refused, each with its reason', async (t) => {
  const { open, store } = await consoleScene(t);
  const expired = await createKeyUntil(past, store);
  const cases: [string, number, RegExp][] = [
    [adminKeys.INGEST, 403, /only sends batches/],
    [expired, 401, /this key has expired/],
    [keys.acme, 401, /a partner&#39;s key|a partner's key/],
    ['', 401, /not known here/],
    [adminKeyOf('production', 'x'.padEnd(43, '0')), 401, /starts with pna_test_/],
    [adminKeyOf('sandbox', 'x'.padEnd(43, '0')), 401, /not known here/],
  ];
  for (const [text, status, said] of cases) {
    const browser = open();
    const answer = await browser.signIn(text);
    assert.equal(answer.status, status);
    assert.match(answer.text, said);
    assert.ok(text === '' || !answer.text.includes(text));
    assert.equal(browser.cookie, '');
  }
});

test('a stolen cookie is worth nothing once its key is revoked or 8 hours have passed', async (t) => {
  const { as, open, store } = await consoleScene(t);
  const viewer = await as('VIEWER');
  const support = await as('SUPPORT');
  const stolen = open(viewer.cookie);
  const path = '/console/keys/KEY_0/revoke';
  const fields = { token: await stolen.token(), reason: 'x' };
  assert.equal((await stolen.get('/console/partners/acme')).status, 200);
  await store.revokeAdminKey('ADMIN_VIEWER', createdAt, byTest);
  const refused = await stolen.get('/console/partners/acme');
  assert.equal(refused.status, 401);
  assert.doesNotMatch(refused.text, /KEY_0/);
  assert.equal((await stolen.send(path, fields)).status, 401);
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 8 * 3_600_000 - 60_000 });
  assert.equal((await support.get('/console/partners/acme')).status, 200);
  t.mock.timers.tick(60_000);
  assert.equal((await support.get('/console/partners/acme')).status, 401);
});

test('a cookie that was issued while the clock was ahead opens nothing', async (t) => {
  const { as } = await consoleScene(t);
  const now = Date.now();
  t.mock.timers.enable({ apis: ['Date'], now: now + 60_000 });
  const soon = await as('VIEWER');
  t.mock.timers.setTime(now + 60_001);
  const ahead = await as('VIEWER');
  t.mock.timers.setTime(now);
  assert.equal((await soon.get('/console/partners/acme')).status, 200, 'clocks differ by up to a minute');
  assert.equal((await ahead.get('/console/partners/acme')).status, 401);
});

test('a changed, foreign or doubled cookie opens nothing', async (t) => {
  const { as, open, send } = await consoleScene(t);
  const { cookie } = await as('ADMIN');
  const [name, text] = cookie.split('=') as [string, string];
  const { cursor } = (await send('/partners?limit=1')).body;
  const changed = text.slice(0, 40) + (text[40] === 'A' ? 'B' : 'A') + text.slice(41);
  const single = [changed, '', cursor].map((value) => `${name}=${value}`);
  for (const wrong of [...single, `${cookie}; ${cookie}`, 'a=b']) {
    assert.equal((await open(wrong).get('/console/partners/acme')).status, 401, wrong.slice(0, 40));
  }
  assert.equal((await open(`a=b; ${cookie}; c=d`).get('/console/partners/acme')).status, 200);
});

test('the keys of cursors make no cookie, and a discarded key ends all sessions', async (t) => {
  const { as, open, store } = await consoleScene(t);
  const admin = await as('ADMIN');
  const [name] = admin.cookie.split('=');
  const content = JSON.stringify([
    Buffer.from(digestOfKey(adminKeys.ADMIN)).toString('base64url'),
    Date.now(),
  ]);
  const statusWith = async (keys: readonly { readonly id: number; readonly secret: Uint8Array }[]) => {
    const { box } = createCursors(() => keys, 'sandbox', Date.now);
    const cookie = `${name}=${box.seal(['console session', '', ''], content)}`;
    return (await open(cookie).get('/console/partners/acme')).status;
  };
  assert.equal(await statusWith(await store.sessionKeys()), 200, 'the form is right');
  assert.equal(await statusWith(await store.cursorKeys()), 401);
  const isSignedIn = async () => (await admin.get('/console/partners/acme')).status === 200;
  await store.rotateCursorKey('keep', byTest);
  assert.ok(await isSignedIn());
  await store.rotateCursorKey('discard', byTest);
  while (await isSignedIn());
});

test('an address with a key is refused, and not repeated', async (t) => {
  const { as, open } = await consoleScene(t);
  const admin = await as('ADMIN');
  for (const path of ['/keys/', '/customers/', '/audit?target=', '/receipts?customer_id=x']) {
    for (const key of [keys.acme, keys.acme.replaceAll('_', '%5F'), `%${keys.acme.replace('p', '%70')}`]) {
      const { status, text } = await admin.get(`/console${path}${key}`);
      assert.equal(status, 404, path);
      assert.doesNotMatch(text, /test(?:_|%5F)/i);
      const asked = await open().get(`/console${path}${key}`);
      assert.match(asked.text, /name="next" value="\/console"/);
    }
  }
});

test('a form without the token of this session, or of another site, changes nothing', async (t) => {
  const { as, open, store } = await consoleScene(t);
  const support = await as('SUPPORT');
  const admin = await as('ADMIN');
  const token = await support.token();
  const path = '/console/keys/KEY_0/revoke';
  const own = { reason: 'leaked', token };
  const foreign = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };
  const tries = [
    await support.send(path, { reason: 'leaked' }),
    await support.send(path, { ...own, token: await admin.token() }),
    await support.send(path, { ...own, token: support.cookie.split('=')[1]! }),
    await support.send(path, own, foreign),
    await support.send(path, own, { 'sec-fetch-site': 'same-site' }),
    await support.send(path, own, { origin: 'null' }),
    await support.send('/console/sign-out', {}),
    await support.send('/console/sign-in', { key: adminKeys.ADMIN }, { 'sec-fetch-site': 'cross-site' }),
    // As browsers send it: without the cookie, which the answer must not forget.
    await open().send('/console/sign-out', {}, foreign),
  ];
  for (const { status, headers } of tries) assert.deepEqual([status, headers.getSetCookie()], [403, []]);
  assert.equal((await store.findKeyById('KEY_0'))?.revoked_at, undefined);
  assert.equal((await support.send(path, own)).status, 303);
  assert.ok((await store.findKeyById('KEY_0'))?.revoked_at);
});

/** The status of an answer. Fetch sets the header Host itself. */
async function statusAt(address: string, headers: Record<string, string>, body?: string) {
  const sent = request(address, { method: body ? 'POST' : 'GET', headers }).end(body);
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  answer.resume();
  return answer.statusCode;
}

test('a website that gives its name a local address cannot use or read the service', async (t) => {
  const { address } = await consoleScene(t);
  const { host, port } = new URL(address);
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  const key = { authorization: `Bearer ${adminKeys.ADMIN}` };
  const signIn = `key=${adminKeys.ADMIN}`;
  const statusesAs = async (host: string) => [
    await statusAt(`${address}/console/sign-in`, { host, ...form, origin: `http://${host}` }, signIn),
    await statusAt(`${address}/console`, { host }),
    await statusAt(`${address}/admin/v1/partners`, { host, ...key }),
  ];
  for (const local of [host, `localhost:${port}`, 'localhost:9000', '[::1]:9000']) {
    assert.deepEqual(await statusesAs(local), [303, 200, 200], local);
  }
  for (const foreign of [`evil.example:${port}`, '127.0.0.1.evil.example', 'localhost.evil.example']) {
    assert.deepEqual(await statusesAs(foreign), [400, 400, 400], foreign);
  }
});

test('the sign-in returns to pages of the console only', async (t) => {
  const { open } = await consoleScene(t);
  const asked = await open().get('/console/audit?target=a%22b&actor=%3Cb%3E');
  assert.match(asked.text, /name="next" value="\/console\/audit\?target=a%22b&amp;actor=%3Cb%3E"/);
  const sites = [
    'https://evil.example/',
    '//evil.example',
    '/\\evil.example',
    '\t//evil.example',
    '@evil.example',
  ];
  const paths = [
    '/docs',
    '/admin/v1/partners',
    '/consoles',
    'console',
    '/console/../docs',
    '/console/%2e%2e/docs',
  ];
  const others = ['/console//../..//evil.example', 'javascript:alert(1)', `/console?x=${keys.acme}`];
  for (const next of [...sites, ...paths, ...others]) assert.equal(returnPath(next), '/console', next);
  for (const next of ['/console', '/console/partners/a%2Fb', '/console/audit?target=x%20y']) {
    assert.equal(returnPath(next), next);
  }
  assert.equal((await open().signIn(adminKeys.VIEWER, '//evil.example')).to, '/console');
});

test('a form of another type, or at an address without one, is refused', async (t) => {
  const viewer = await (await consoleScene(t)).as('VIEWER');
  const json = await viewer.send('/console/sign-in', {}, { 'content-type': 'application/json' });
  assert.equal(json.status, 415);
  assert.equal((await viewer.send('/console', {})).status, 405);
  assert.equal((await viewer.get('/console/nope')).status, 404);
});

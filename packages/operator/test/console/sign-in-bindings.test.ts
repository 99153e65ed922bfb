/** What a sign-in, a session and a kept form are bound to. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startAdmin } from '../../../testkit/admin/started.ts';
import { keys } from '../../../testkit/fixtures/fixture.ts';
import { startHaproxy, withoutHaproxy } from '../../../testkit/servers/haproxy.ts';
import { openInstance } from '../admin/scene.ts';
import { callback, personAt, signInScene as scene, signIn, start } from './people.ts';

const needsHaproxy = { skip: withoutHaproxy };

const tokenOn = (text: string) => /name="token" value="([\w-]+)"/.exec(text)?.[1] ?? '';

for (const next of ['https://evil.example/', '//evil.example', '/docs', '/\\evil.example']) {
  test(`a sign-in returns to pages of the console only, and not to ${next}`, async (t) => {
    const { open, provider } = await scene(t);
    const page = await signIn(open(), provider, { next });
    assert.match(page.text, /content="0; url=\/console"/);
  });
}

test('a page of another site, or of another name of this site, starts no sign-in', async (t) => {
  const { address } = await scene(t);
  for (const site of ['cross-site', 'same-site']) {
    const asked = await fetch(address + start, { redirect: 'manual', headers: { 'sec-fetch-site': site } });
    assert.deepEqual([asked.status, asked.headers.getSetCookie()], [200, []], site);
  }
});

test('a session ends with its issuer, with no issuer, and one of a key with --oidc-only', async (t) => {
  const { open, as, provider, database, oidc } = await scene(t);
  const person = open();
  await signIn(person, provider);
  const key = await as('SUPPORT');
  const cookies = {
    person: `partner_network_console=${person.jar.get('partner_network_console')!.value}`,
    key: key.cookie,
  };
  const statusAt = async (settings: typeof oidc | undefined, cookie: string) => {
    const { address } = await openInstance(t, database, settings);
    return (await fetch(`${address}/console/partners/acme`, { headers: { cookie } })).status;
  };
  assert.equal(await statusAt(oidc, cookies.person), 200);
  assert.equal(await statusAt({ ...oidc, 'oidc-issuer': new URL('https://b.example') }, cookies.person), 401);
  assert.equal(await statusAt(undefined, cookies.person), 401);
  assert.equal(await statusAt(oidc, cookies.key), 200);
  assert.equal(await statusAt({ ...oidc, 'oidc-only': true }, cookies.key), 401);
});

test('a kept form is for its account and its page, and holds no key', async (t) => {
  const { open, provider } = await scene(t, { 'oidc-session': 900_000 });
  const path = '/console/keys/KEY_0/revoke';
  const person = open();
  await signIn(person, provider);
  const token = tokenOn((await person.get(path)).text);
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 900_000 });
  const send = (reason: string) => person.get(path, { form: new URLSearchParams({ token, reason }) });
  assert.equal((await send('kept-reason')).status, 401);
  provider.script.claims = { sub: 'user-2' };
  await signIn(person, provider);
  assert.doesNotMatch((await person.get(path)).text, /kept-reason/, 'another account of the same name');
  provider.script.claims = {};
  await signIn(person, provider);
  assert.doesNotMatch((await person.get('/console/keys/KEY_1/revoke')).text, /kept-reason/, 'another page');
  assert.match((await person.get(path)).text, /kept-reason/);
  const next = tokenOn((await person.get(path)).text);
  t.mock.timers.tick(900_000);
  await person.get(path, { form: new URLSearchParams({ token: next, reason: keys.acme }) });
  await signIn(person, provider);
  assert.doesNotMatch((await person.get(path)).text, new RegExp(keys.acme.slice(9)));
});

test('the cookie of a sign-in under way is not a session', async (t) => {
  const { open } = await scene(t);
  const person = open();
  await person.get(start);
  const [[, cookie]] = [...person.jar] as [[string, { value: string; isLax: boolean }]];
  person.jar.set('partner_network_console', cookie);
  assert.equal((await person.get('/console/partners/acme')).status, 401);
});

test('a redirect of the provider is not followed, also not to a good answer', async (t) => {
  const { open, provider } = await scene(t);
  provider.script.discovery = { jwks_uri: `${provider.issuer.origin}/old` };
  provider.script.answer['/old'] = (response) => void response.writeHead(302, { Location: '/keys' }).end();
  assert.equal((await signIn(open(), provider)).status, 503);
  assert.ok(!provider.asked.includes('/keys'));
});

for (const [name, path] of [
  ['token_endpoint', 'token'],
  ['jwks_uri', 'keys'],
] as const) {
  test(`no address without TLS is asked, also if it would answer (${name})`, async (t) => {
    const { open, provider } = await scene(t);
    // The same server, under an address that is not a loopback address by its name.
    provider.script.discovery = { [name]: `http://0.0.0.0:${provider.issuer.port}/${path}` };
    assert.equal((await signIn(open(), provider)).status, 503);
    assert.ok(!provider.asked.includes(`/${path}`));
  });
}

test('nobody is sent to sign out at an address without TLS', async (t) => {
  const { open, provider } = await scene(t);
  provider.script.discovery = { end_session_endpoint: 'http://evil.example/' };
  assert.equal((await signIn(open(), provider)).status, 503);
});

test('a sign-in that began while a clock was ahead is refused', async (t) => {
  const { open, provider } = await scene(t);
  const now = Date.now();
  t.mock.timers.enable({ apis: ['Date'], now: now + 60_001 });
  const person = open();
  const asked = await person.get(start);
  t.mock.timers.setTime(now);
  const state = new URL(asked.to).searchParams.get('state')!;
  const back = new URLSearchParams({ code: provider.codeFor(asked.to), state });
  assert.equal((await person.get(`/console/sign-in/callback?${back}`, { isBack: true })).status, 400);
});

test('behind HAProxy, a sign-in goes on if an instance is killed in the middle', needsHaproxy, async (t) => {
  const { provider, url } = await scene(t);
  const variables = {
    ADMIN_OIDC_ISSUER: provider.issuer.origin,
    ADMIN_OIDC_CLIENT_ID: 'console',
    ADMIN_OIDC_ROLES: 'support=SUPPORT',
    ADMIN_PUBLIC_URL: 'http://127.0.0.1:8090',
  };
  const launch = () => startAdmin(t, url, ['--log-level', 'error'], { variables });
  const instances = [await launch(), await launch()] as const;
  const portOf = (address: string) => Number(new URL(address).port);
  const [one, two] = instances.map(({ address, operations }) => ({
    port: portOf(address),
    operationsPort: portOf(operations),
  }));
  const proxy = await startHaproxy(t, [one!, two!]);
  const person = personAt(`http://127.0.0.1:${proxy.port}`);
  const { to } = await person.get('/console/sign-in/start?next=/console/audit');
  instances[0].signal('SIGKILL');
  await instances[0].ended;
  const state = new URL(to).searchParams.get('state')!;
  const back = new URLSearchParams({ code: provider.codeFor(to), state });
  assert.equal((await person.get(`${callback}?${back}`, { isBack: true })).status, 200);
  assert.equal((await person.get('/console/audit')).status, 200);
});

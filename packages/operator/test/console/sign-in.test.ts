/** Signing in with an identity provider: roles, names, sessions and kept forms. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { adminKeys } from '../../../testkit/admin/started.ts';
import { engines, openInstance } from '../admin/scene.ts';
import { callback, personAt, signInScene as scene, signIn, start } from './people.ts';

test('a person signs in, works with the role of the group, and is named in the audit log', async (t) => {
  const { open, provider, store } = await scene(t);
  const person = open();
  const page = await signIn(person, provider, { next: '/console/partners/acme' });
  assert.equal(page.status, 200);
  assert.match(page.text, /http-equiv="refresh" content="0; url=\/console\/partners\/acme"/);
  assert.equal(page.headers.get('referrer-policy'), 'same-origin, no-referrer');
  const partner = await person.get('/console/partners/acme');
  assert.match(partner.text, /class="role">SUPPORT<[\s\S]*>alice@example\.com<\/bdi>/);
  const token = /name="token" value="([\w-]+)"/.exec(partner.text)![1]!;
  const form = new URLSearchParams({ token, reason: 'leaked' });
  assert.equal((await person.get('/console/keys/KEY_0/revoke', { form })).status, 303);
  const entries = await store.listAudit({ limit: 10, actor: 'person:alice@example.com' });
  const who = { subject: 'user-1', issuer: provider.issuer.origin };
  assert.deepEqual(
    entries.map(({ action, target, details }) => ({ action, target, details })),
    [
      { action: 'keys revoke', target: 'KEY_0', details: { partner_id: 'acme', ...who, reason: 'leaked' } },
      {
        action: 'console sign-in',
        target: 'console',
        details: { outcome: 'signed in', role: 'SUPPORT', ...who },
      },
    ],
  );
});

/** The token for forms on a page. */
const tokenOn = (text: string) => /name="token" value="([\w-]+)"/.exec(text)?.[1] ?? '';

test('two sign-ins in two tabs both work, in any order', async (t) => {
  const { open, provider } = await scene(t);
  const person = open();
  const tabs = await Promise.all(
    ['/console/data', '/console/audit'].map((next) => person.get(`${start}?next=${next}`)),
  );
  for (const [index, next] of [...['/console/data', '/console/audit'].entries()].toReversed()) {
    const { to } = tabs[index]!;
    const state = new URL(to).searchParams.get('state')!;
    const back = new URLSearchParams({ code: provider.codeFor(to), state });
    const page = await person.get(`${callback}?${back}`, { isBack: true });
    assert.ok(page.text.includes(`url=${next}"`), next);
  }
});

test('an instance that stops in the middle of a sign-in does not matter', async (t) => {
  const { provider, database, oidc } = await scene(t);
  const first = await openInstance(t, database, oidc);
  const second = await openInstance(t, database, oidc);
  const person = personAt(first.address);
  const { to } = await person.get(`${start}?next=/console/health`);
  await first.close();
  const other = personAt(second.address);
  for (const [name, cookie] of person.jar) other.jar.set(name, cookie);
  const state = new URL(to).searchParams.get('state')!;
  const back = new URLSearchParams({ code: provider.codeFor(to), state });
  assert.equal((await other.get(`${callback}?${back}`, { isBack: true })).status, 200);
  assert.equal((await other.get('/console/health')).status, 200);
});

for (const [given, role] of [
  ['support', 'SUPPORT'],
  [['viewers', 'x', 'admins', 'support'], 'ADMIN'],
  [Array.from({ length: 500 }, (_, index) => `group-${index}`).concat('viewers'), 'VIEWER'],
  [['Support', 'support '], undefined],
  [[], undefined],
  [{ support: true }, undefined],
  [undefined, undefined],
] as const) {
  test(`the claim ${JSON.stringify(given)?.slice(0, 40)} gives the role ${role}`, async (t) => {
    const { open, provider, store } = await scene(t);
    provider.script.claims = { groups: given };
    const person = open();
    const page = await signIn(person, provider);
    if (role !== undefined) {
      const shown = /<span class="role">(\w+)</.exec((await person.get('/console')).text)?.[1];
      assert.equal(shown, role);
      return;
    }
    assert.equal(page.status, 403);
    assert.match(page.text, /alice@example\.com.*claim.*groups.*admins<\/bdi><\/code>: ADMIN/s);
    for (let again = 0; again < 3; again += 1) await signIn(open(), provider);
    const entries = await store.listAudit({ limit: 10, action: 'console sign-in' });
    const details = { outcome: 'refused', subject: 'user-1', issuer: provider.issuer.origin };
    assert.deepEqual(
      entries.map((entry) => [entry.actor, entry.details]),
      [['person:alice@example.com', details]],
    );
    assert.equal((await person.get('/console/partners/acme')).status, 401);
  });
}

test('a claim that the provider left out for too many groups gets a page that says so', async (t) => {
  const { open, provider } = await scene(t);
  provider.script.claims = { groups: undefined, _claim_names: { groups: 'src1' }, _claim_sources: {} };
  const page = await signIn(open(), provider);
  assert.deepEqual([page.status, /has too many groups/.test(page.text)], [403, true]);
});

for (const [claims, name] of [
  [{ email: 'a@b.example', email_verified: false, preferred_username: 'alice' }, 'alice'],
  [{ email: 'a@b.example', email_verified: false, preferred_username: 'a@b.example' }, 'user-1'],
  [{ email: `x\u0000y`, preferred_username: 'al\u202eice' }, 'user-1'],
  [{ email: 'x'.repeat(10_000) }, 'user-1'],
  [{ email: 'x'.repeat(250) }, 'user-1'],
  [{ email: 'a@b.example', email_verified: 'false' }, 'user-1'],
  [{ email: 'ali\u2060ce' }, 'user-1'],
  [{ email: ' alice' }, 'user-1'],
  [{ email: 'x'.repeat(249) }, 'x'.repeat(249)],
  [{ email: '<b>"alice"</b>' }, '<b>"alice"</b>'],
] as const) {
  test(`the claims ${JSON.stringify(claims).slice(0, 60)} give the name ${name}`, async (t) => {
    const { open, provider, store } = await scene(t);
    provider.script.claims = claims;
    const person = open();
    await signIn(person, provider);
    const [entry] = await store.listAudit({ limit: 1 });
    assert.equal(entry?.actor, `person:${name}`);
    assert.doesNotMatch((await person.get('/console/audit')).text, /<b>"alice"/);
  });
}

test('groups and name come from the endpoint for user information if the ID token has none', async (t) => {
  const { open, provider } = await scene(t);
  provider.script.claims = { email: undefined, groups: undefined };
  provider.script.userinfo = { sub: 'user-1', preferred_username: 'al', groups: ['viewers'] };
  const person = open();
  await signIn(person, provider);
  assert.match((await person.get('/console')).text, /class="role">VIEWER<[\s\S]*>al<\/bdi>/);
  provider.script.userinfo = { sub: 'user-2', groups: ['admins'] };
  assert.equal((await signIn(open(), provider)).status, 503, 'of another subject');
});

test('a session ends after its time, and the next page leads to the provider and back', async (t) => {
  const { open, provider } = await scene(t, { 'oidc-session': 900_000 });
  const person = open();
  await signIn(person, provider);
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 899_000 });
  assert.equal((await person.get('/console/audit')).status, 200);
  t.mock.timers.tick(1_000);
  const asked = await person.get('/console/audit?target=KEY_0');
  assert.deepEqual(
    [asked.status, asked.to],
    [303, '/console/sign-in/start?next=%2Fconsole%2Faudit%3Ftarget%3DKEY_0'],
  );
  await signIn(person, provider);
  assert.equal((await person.get('/console/audit')).status, 200);
});

test('a form that is sent too late comes back to the same person, to confirm', async (t) => {
  const { open, provider, store } = await scene(t, { 'oidc-session': 900_000 });
  const path = '/console/keys/KEY_0/revoke';
  const person = open();
  await signIn(person, provider);
  const token = tokenOn((await person.get(path)).text);
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 900_000 });
  const reason = '😀'.repeat(256);
  const forged = await person.get(path, { form: new URLSearchParams({ reason }) });
  assert.equal(forged.status, 403, 'without the token of the session');
  const sent = await person.get(path, { form: new URLSearchParams({ token, reason }) });
  assert.equal(sent.status, 401);
  assert.match(sent.text, /nothing was changed.*sign-in\/start\?next=%2Fconsole%2Fkeys%2FKEY_0%2Frevoke"/s);
  const kept = person.jar.get('partner_network_form')!;
  assert.ok(kept.value.length < 4_000, 'browsers keep cookies of up to 4,096 bytes');
  provider.script.claims = { sub: 'user-2', email: 'bob@example.com' };
  await signIn(person, provider);
  assert.ok(!(await person.get(path)).text.includes(reason), 'another person');
  provider.script.claims = {};
  await signIn(person, provider);
  const again = await person.get(path);
  assert.ok(again.text.includes(reason));
  assert.equal((await store.findKeyById('KEY_0'))?.revoked_at, undefined);
  assert.ok(!(await person.get(path)).text.includes(reason), 'once');
  const form = new URLSearchParams({ token: tokenOn(again.text), reason });
  assert.equal((await person.get(path, { form })).status, 303);
  assert.ok((await store.findKeyById('KEY_0'))?.revoked_at);
});

test('signing out ends the session on every instance, and leads to the provider', async (t) => {
  const { open, provider, database, oidc } = await scene(t);
  const person = open();
  await signIn(person, provider);
  const other = personAt((await openInstance(t, database, oidc)).address);
  for (const [name, cookie] of person.jar) other.jar.set(name, cookie);
  const { text, status } = await other.get('/console/audit');
  assert.equal(status, 200);
  const form = new URLSearchParams({ token: tokenOn(text) });
  const page = await person.get('/console/sign-out', { form });
  assert.match(page.text, /url=http:.*\/sign-out\?client_id=console".*You are signed out/s);
  assert.equal((await other.get('/console/audit')).status, 401);
});

test('without keys in the console, no key signs in, and the API still takes them', async (t) => {
  const { open, send, address } = await scene(t, { 'oidc-only': true });
  const page = await open().get('/console');
  assert.match(page.text, /sign-in\/start\?next=/);
  assert.doesNotMatch(page.text, /name="key"/);
  const form = new URLSearchParams({ key: adminKeys.ADMIN });
  const refused = await open().get('/console/sign-in', { form });
  assert.deepEqual([refused.status, refused.headers.getSetCookie()], [403, []]);
  assert.equal((await send('/partners')).status, 200);
  assert.equal(
    (await fetch(`${address}${start}`, { redirect: 'manual', headers: { 'sec-fetch-site': 'cross-site' } }))
      .status,
    200,
  );
});

test('the name of a key finds what it did, as an account does', async (t) => {
  const { open, provider, send, post, as } = await scene(t);
  await post('/partners/acme/disable', {}, { role: 'SUPPORT' });
  const { name } = (await (await scene(t)).store.findAdminKeyById('ADMIN_SUPPORT'))!;
  const byName = (await send(`/audit?actor=${name}`)).body.entries;
  assert.deepEqual([byName[0].actor, byName[0].actor_name], ['admin-key:ADMIN_SUPPORT', name]);
  await signIn(open(), provider);
  const people = (await send('/audit?actor=alice@example.com')).body.entries;
  assert.equal(people[0].actor, 'person:alice@example.com');
  const admin = await as('ADMIN');
  const found = await admin.post('/console/search', { id: name });
  assert.equal(found.to, `/console/audit?actor=${name}`);
});

test('an address without a proof gives no role, and no header of a proxy gives one', async (t) => {
  const { open, provider, address } = await scene(t, {
    'oidc-role-claim': 'email',
    'oidc-role': [['alice@example.com', 'ADMIN']],
  });
  for (const email_verified of [false, 'false', 0, null]) {
    provider.script.claims = { email_verified };
    assert.equal((await signIn(open(), provider)).status, 403, String(email_verified));
  }
  provider.script.claims = {};
  assert.equal((await signIn(open(), provider)).status, 200);
  const names = 'x-forwarded-user x-forwarded-email x-auth-request-email remote-user x-remote-user'.split(
    ' ',
  );
  const headers = Object.fromEntries(names.map((name) => [name, 'alice@example.com']));
  assert.equal((await fetch(`${address}/console/audit`, { headers })).status, 401);
});

test('a long address to return to still fits into the cookie of a sign-in', async (t) => {
  const { open, provider } = await scene(t);
  const person = open();
  await signIn(person, provider, { next: `/console/audit?target=${'x'.repeat(8_000)}` });
  assert.equal((await person.get('/console/audit')).status, 200);
  const asked = await person.get(`${start}?next=/console/audit?target=${'x'.repeat(1_900)}`);
  assert.ok(asked.headers.getSetCookie()[0]!.length < 4_096);
});

for (const engine of engines) {
  test(`of several answers to one sign-in at once, one is taken (${engine})`, async (t) => {
    const { open, provider, database, oidc } = await scene(t, {}, engine);
    const others = await Promise.all([1, 2].map(() => openInstance(t, database, oidc)));
    const person = open();
    const { to } = await person.get(start);
    const state = new URL(to).searchParams.get('state')!;
    const statuses = await Promise.all(
      [0, 1, 2, 3].map(async (at) => {
        const browser = personAt(others[at % 2]!.address);
        for (const [name, cookie] of person.jar) browser.jar.set(name, cookie);
        const back = new URLSearchParams({ code: provider.codeFor(to), state });
        return (await browser.get(`${callback}?${back}`, { isBack: true })).status;
      }),
    );
    assert.deepEqual(statuses.toSorted(), [200, 400, 400, 400]);
  });
}

/** Signing in with an identity provider, and what a provider or an attacker may send. */
import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { type TestContext, test } from 'node:test';
import { adminKeys } from '../../../testkit/admin/started.ts';
import { type ScriptedProvider, scriptedProvider } from '../../../testkit/identity/scripted.ts';
import type { OidcSettings } from '../../src/identity/settings.ts';
import { openInstance } from '../admin/scene.ts';
import { consoleScene, oidcOf } from './scene.ts';

const start = '/console/sign-in/start';
const callback = '/console/sign-in/callback';

/** A browser that keeps every cookie, and sends only those that are Lax on the way back from another site. */
function personAt(address: string) {
  const jar = new Map<string, { value: string; isLax: boolean }>();
  const get = async (
    path: string,
    { isBack = false, form = undefined as URLSearchParams | undefined } = {},
  ) => {
    const sent = [...jar].filter(([, { isLax }]) => isLax || !isBack);
    const response = await fetch(address + path, {
      redirect: 'manual',
      headers: { cookie: sent.map(([name, { value }]) => `${name}=${value}`).join('; ') },
      ...(form && { method: 'POST', body: form }),
    });
    for (const header of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(header)!;
      if (value === '') jar.delete(name!);
      else jar.set(name!, { value: value!, isLax: header.includes('SameSite=Lax') });
    }
    const { status, headers } = response;
    return { status, headers, text: await response.text(), to: headers.get('location') ?? '' };
  };
  return { jar, get };
}

type Person = ReturnType<typeof personAt>;

async function scene(t: TestContext, settings: Partial<OidcSettings> = {}) {
  const provider = await scriptedProvider(t);
  const oidc = oidcOf(provider.issuer.href, settings);
  const opened = await consoleScene(t, 'sqlite', oidc);
  const open = () => personAt(opened.address);
  return { ...opened, oidc, provider, open };
}

/** Goes to the provider and back. `change` changes the address at which the browser comes back. */
async function signIn(
  person: Person,
  provider: ScriptedProvider,
  { next = '/console', change = (_back: URLSearchParams) => {} } = {},
) {
  const asked = await person.get(`${start}?${new URLSearchParams({ next })}`);
  if (asked.status !== 303) return asked;
  const back = new URLSearchParams({
    code: provider.codeFor(asked.to),
    state: new URL(asked.to).searchParams.get('state')!,
  });
  change(back);
  return person.get(`${callback}?${back}`, { isBack: true });
}

test('a person signs in, works with the role of the group, and is named in the audit log', async (t) => {
  const { open, provider, store } = await scene(t);
  const person = open();
  const page = await signIn(person, provider, { next: '/console/partners/acme' });
  assert.equal(page.status, 200);
  assert.match(page.text, /http-equiv="refresh" content="0; url=\/console\/partners\/acme"/);
  assert.equal(page.headers.get('referrer-policy'), 'same-origin, no-referrer');
  const partner = await person.get('/console/partners/acme');
  assert.match(partner.text, /alice@example\.com<\/bdi> <span class="role">SUPPORT/);
  const token = /name="token" value="([\w-]+)"/.exec(partner.text)![1]!;
  const form = new URLSearchParams({ token, reason: 'leaked' });
  assert.equal((await person.get('/console/keys/KEY_0/revoke', { form })).status, 303);
  const entries = await store.listAudit({ limit: 10, actor: 'person:alice@example.com' });
  const who = { subject: 'user-1', issuer: provider.issuer.href };
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

const second = Math.floor(Date.now() / 1_000);

/** Sends a body of this type. */
const body =
  (type: string, text: string, status = 200) =>
  (response: ServerResponse) => {
    response.writeHead(status, { 'Content-Type': type }).end(text);
  };
const never = () => {};
const endless = (response: ServerResponse) => {
  response.writeHead(200, { 'Content-Type': 'application/json' });
  const piece = Buffer.alloc(64 * 1024, ' ');
  const write = () => {
    while (!response.destroyed && response.write(piece));
  };
  response.on('drain', write);
  write();
};
const moved = (response: ServerResponse) => {
  response.writeHead(302, { Location: 'http://127.0.0.1:1/' }).end();
};

interface Attack {
  readonly name: string;
  readonly status: number;
  readonly said: RegExp;
  /** What the provider sends. */
  readonly provide?: (provider: ScriptedProvider) => void;
  /** What is wrong with the address at which the browser comes back. */
  readonly change?: (back: URLSearchParams) => void;
}

const untrusted = /cannot be trusted/;
const noAnswer = /cannot be reached, or does not answer/;
const clocks = /clocks of this service and of the identity provider differ/;
const notUnderWay = /no sign-in under way/;
const claim = (claims: object) => (provider: ScriptedProvider) =>
  Object.assign(provider.script.claims, claims);
const found = (discovery: object) => (provider: ScriptedProvider) =>
  Object.assign(provider.script.discovery, discovery);
const answered =
  (path: string, answer: (response: ServerResponse) => void) => (provider: ScriptedProvider) => {
    provider.script.answer[path] = answer;
  };

const attacks: readonly Attack[] = [
  {
    name: 'a forged state',
    status: 400,
    said: notUnderWay,
    change: (back) => back.set('state', 'x'.repeat(43)),
  },
  { name: 'no state', status: 400, said: notUnderWay, change: (back) => back.delete('state') },
  { name: 'two states', status: 400, said: notUnderWay, change: (back) => back.append('state', 'x') },
  { name: 'no code', status: 403, said: untrusted, change: (back) => back.delete('code') },
  {
    name: 'another issuer in the address',
    status: 403,
    said: untrusted,
    change: (back) => back.set('iss', 'https://evil.example'),
  },
  {
    name: 'a refusal of the provider',
    status: 403,
    said: /refused the sign-in \(access_denied\)/,
    change: (back) => {
      back.delete('code');
      back.set('error', 'access_denied');
      back.set('error_description', '<b>evil</b>');
    },
  },
  {
    name: 'another issuer in the token',
    status: 403,
    said: untrusted,
    provide: claim({ iss: 'https://evil.example' }),
  },
  { name: 'another audience', status: 403, said: untrusted, provide: claim({ aud: 'another' }) },
  {
    name: 'two audiences without azp',
    status: 403,
    said: untrusted,
    provide: claim({ aud: ['console', 'another'] }),
  },
  { name: 'another nonce', status: 403, said: untrusted, provide: claim({ nonce: 'another' }) },
  { name: 'no nonce', status: 403, said: untrusted, provide: claim({ nonce: undefined }) },
  { name: 'a token that is past', status: 503, said: clocks, provide: claim({ exp: second - 61 }) },
  { name: 'a token that is not yet valid', status: 503, said: clocks, provide: claim({ nbf: second + 600 }) },
  {
    name: 'a token that is issued in ten minutes',
    status: 503,
    said: clocks,
    provide: claim({ iat: second + 600, exp: second + 900 }),
  },
  { name: 'no subject', status: 403, said: untrusted, provide: claim({ sub: undefined }) },
  {
    name: 'a subject with a control character',
    status: 403,
    said: /subject is empty, too long/,
    provide: claim({ sub: 'a\nb' }),
  },
  {
    name: 'a subject of 10,000 characters',
    status: 403,
    said: /subject is empty, too long/,
    provide: claim({ sub: 'x'.repeat(10_000) }),
  },
  {
    name: 'a key that is not published',
    status: 403,
    said: untrusted,
    provide: (provider) => provider.rotate(false),
  },
  {
    name: 'the algorithm none',
    status: 403,
    said: untrusted,
    provide: ({ script }) => Object.assign(script.header, { alg: 'none' }),
  },
  {
    name: 'the algorithm HS256',
    status: 403,
    said: untrusted,
    provide: ({ script }) => Object.assign(script.header, { alg: 'HS256' }),
  },
  {
    name: 'the algorithm none, which the provider says it uses',
    status: 403,
    said: untrusted,
    provide: ({ script }) => {
      Object.assign(script.header, { alg: 'none' });
      Object.assign(script.discovery, { id_token_signing_alg_values_supported: ['none', 'HS256', 'RS256'] });
    },
  },
  {
    name: 'the algorithm HS256, which the provider says it uses',
    status: 403,
    said: untrusted,
    provide: ({ script }) => {
      Object.assign(script.header, { alg: 'HS256' });
      Object.assign(script.discovery, { id_token_signing_alg_values_supported: ['none', 'HS256', 'RS256'] });
    },
  },
  {
    name: 'a changed signature',
    status: 403,
    said: untrusted,
    provide: ({ script }) => {
      script.token = (token) => token.slice(0, -20) + 'A'.repeat(20);
    },
  },
  {
    name: 'changed claims',
    status: 403,
    said: untrusted,
    provide: ({ script }) => {
      script.token = (token) => {
        const [head, claims, signature] = token.split('.');
        const own = JSON.parse(Buffer.from(claims!, 'base64url').toString());
        const more = Buffer.from(JSON.stringify({ ...own, groups: ['admins'] })).toString('base64url');
        return `${head}.${more}.${signature}`;
      };
    },
  },
  {
    name: 'a token without a signature',
    status: 403,
    said: untrusted,
    provide: ({ script }) => {
      script.token = (token) => `${token.split('.').slice(0, 2).join('.')}.`;
    },
  },
  {
    name: 'an encrypted token',
    status: 403,
    said: untrusted,
    provide: ({ script }) => {
      script.token = (token) => `${token}.${token.split('.').slice(0, 2).join('.')}`;
    },
  },
  {
    name: 'a discovery document of another issuer',
    status: 503,
    said: noAnswer,
    provide: found({ issuer: 'https://evil.example' }),
  },
  {
    name: 'an address of the provider without TLS',
    status: 503,
    said: noAnswer,
    provide: found({ token_endpoint: 'http://evil.example/token' }),
  },
  {
    name: 'a page to sign in without TLS',
    status: 503,
    said: noAnswer,
    provide: found({ authorization_endpoint: 'http://evil.example/' }),
  },
  { name: 'a provider that is down', status: 503, said: noAnswer, provide: ({ close }) => close() },
  {
    name: 'a provider that is down after the start',
    status: 503,
    said: noAnswer,
    provide: ({ script }) => {
      script.answer['/token'] = (response) => response.destroy();
    },
  },
  {
    name: 'a discovery of HTML',
    status: 503,
    said: noAnswer,
    provide: answered('/.well-known/openid-configuration', body('text/html', '<p>Hello')),
  },
  {
    name: 'a discovery with 500',
    status: 503,
    said: noAnswer,
    provide: answered('/.well-known/openid-configuration', body('application/json', '{}', 500)),
  },
  {
    name: 'an endless discovery',
    status: 503,
    said: noAnswer,
    provide: answered('/.well-known/openid-configuration', endless),
  },
  { name: 'a silent token endpoint', status: 503, said: noAnswer, provide: answered('/token', never) },
  { name: 'an endless token', status: 503, said: noAnswer, provide: answered('/token', endless) },
  {
    name: 'a token endpoint with 500',
    status: 503,
    said: noAnswer,
    provide: answered('/token', body('text/html', 'oops', 500)),
  },
  {
    name: 'a token endpoint that leads elsewhere',
    status: 503,
    said: noAnswer,
    provide: answered('/token', moved),
  },
  {
    name: 'a wrong secret',
    status: 403,
    said: /refused the sign-in \(invalid_client\)/,
    provide: answered('/token', body('application/json', '{"error":"invalid_client"}', 401)),
  },
  { name: 'endless keys', status: 503, said: noAnswer, provide: answered('/keys', endless) },
  { name: 'keys that lead elsewhere', status: 503, said: noAnswer, provide: answered('/keys', moved) },
];

for (const { name, status, said, provide, change } of attacks) {
  test(`nobody is signed in by ${name}`, async (t) => {
    const { open, provider, lines } = await scene(t);
    provide?.(provider);
    const person = open();
    const page = await signIn(person, provider, change ? { change } : {});
    assert.equal(page.status, status);
    assert.match(page.text, said);
    const id = page.headers.get('x-request-id')!;
    assert.ok(page.text.includes(id), 'the page has the request id');
    assert.doesNotMatch(page.text, /evil|code-0|eyJ| {4}at /);
    assert.ok(!person.jar.has('partner_network_console'));
    assert.doesNotMatch(JSON.stringify(lines()), /evil|code-0|eyJ|access-token/);
    assert.equal((await person.get('/console/partners/acme')).status, 401);
  });
}

/** The token for forms on a page. */
const tokenOn = (text: string) => /name="token" value="([\w-]+)"/.exec(text)?.[1] ?? '';

test('an address of the way back works once, for 10 minutes, and in its own browser only', async (t) => {
  const { open, provider, address, database, oidc } = await scene(t);
  const person = open();
  const asked = await person.get(start);
  const jar = new Map(person.jar);
  const state = new URL(asked.to).searchParams.get('state')!;
  const back = () => `${callback}?${new URLSearchParams({ code: provider.codeFor(asked.to), state })}`;
  const refused = { status: 400, said: true };
  const answerOf = async (browser: Person, path: string) => {
    const { status, text } = await browser.get(path, { isBack: true });
    return { status, said: notUnderWay.test(text) };
  };
  assert.deepEqual(await answerOf(open(), back()), refused, 'another browser');
  assert.equal((await answerOf(person, back())).status, 200);
  assert.deepEqual(await answerOf(person, back()), refused, 'again');
  const stolen = personAt((await openInstance(t, database, oidc)).address);
  for (const [name, cookie] of jar) stolen.jar.set(name, cookie);
  assert.deepEqual(await answerOf(stolen, back()), refused, 'with a copied cookie, at another instance');
  const slow = personAt(address);
  const late = await slow.get(start);
  const lateState = new URL(late.to).searchParams.get('state')!;
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 600_000 });
  assert.deepEqual(await answerOf(slow, `${callback}?code=x&state=${lateState}`), refused, 'too late');
});

test('a code that was used already is refused by the provider, and its page says so', async (t) => {
  const { open, provider } = await scene(t);
  const code = provider.codeFor('http://x/?nonce=x');
  await signIn(open(), provider, { change: (back) => back.set('code', code) });
  const page = await signIn(open(), provider, { change: (back) => back.set('code', code) });
  assert.deepEqual([page.status, /was used already, or is too old/.test(page.text)], [400, true]);
});

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

test('a key that was rotated works after the keys are fetched once more, at most once in 10 seconds', async (t) => {
  const { open, provider } = await scene(t);
  const fetched = () => provider.asked.filter((path) => path === '/keys').length;
  assert.equal((await signIn(open(), provider)).status, 200);
  assert.equal((await signIn(open(), provider)).status, 200);
  assert.equal(fetched(), 1);
  provider.rotate(true);
  assert.equal((await signIn(open(), provider)).status, 403, 'the keys were fetched just now');
  assert.equal(fetched(), 1);
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 10_000 });
  assert.equal((await signIn(open(), provider)).status, 200);
  assert.equal(fetched(), 2);
  provider.rotate(false);
  for (let tries = 0; tries < 3; tries += 1) assert.equal((await signIn(open(), provider)).status, 403);
  assert.equal(fetched(), 2);
});

test('a provider that was down is asked again, at most once in 10 seconds; sessions go on meanwhile', async (t) => {
  const { open, provider } = await scene(t);
  const person = open();
  await signIn(person, provider);
  provider.close();
  assert.equal((await signIn(open(), provider)).status, 503);
  assert.equal((await person.get('/console/partners/acme')).status, 200);
  await provider.open();
  assert.equal((await signIn(open(), provider)).status, 200);
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
    const details = { outcome: 'refused', subject: 'user-1', issuer: provider.issuer.href };
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
  assert.match((await person.get('/console')).text, /<bdi>al<\/bdi> <span class="role">VIEWER/);
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

test('a form that is sent after the end of the session comes back to confirm, to the same person', async (t) => {
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

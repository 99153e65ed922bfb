/** What a provider or an attacker may send to the console instead of a good sign-in. */
import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { test } from 'node:test';
import type { Script, ScriptedProvider } from '../../../testkit/identity/scripted.ts';
import { openInstance } from '../admin/scene.ts';
import { callback, type Person, personAt, signInScene as scene, signIn, start } from './people.ts';

type Expected = readonly [status: number, said: RegExp];
type Provide = (provider: ScriptedProvider) => void;
type Change = (back: URLSearchParams) => void;

const untrusted: Expected = [403, /cannot be trusted/];
const noAnswer: Expected = [503, /cannot be reached, or does not answer/];
const clocks: Expected = [503, /clocks of this service and of the identity provider differ/];
const notUnderWay: Expected = [400, /no sign-in under way/];
const badSubject: Expected = [403, /subject is empty, too long/];
const refused = (code: string): Expected => [403, new RegExp(`refused the sign-in \\(${code}\\)`)];

/** A test that nobody is signed in, and that the page says why and repeats nothing. */
function refuses(name: string, [status, said]: Expected, provide: Provide, change?: Change): void {
  test(`nobody is signed in by ${name}`, async (t) => {
    const { open, provider, lines } = await scene(t);
    provide(provider);
    const person = open();
    const page = await signIn(person, provider, change ? { change } : {});
    assert.equal(page.status, status);
    assert.match(page.text, said);
    assert.ok(page.text.includes(page.headers.get('x-request-id')!), 'the page has the request id');
    assert.doesNotMatch(page.text, /evil|code-0|eyJ| {4}at /);
    assert.ok(!person.jar.has('partner_network_console'));
    assert.doesNotMatch(JSON.stringify(lines()), /evil|code-0|eyJ|access-token/);
    assert.equal((await person.get('/console/partners/acme')).status, 401);
  });
}

const good = () => {};
const claims =
  (changed: object): Provide =>
  ({ script }) =>
    Object.assign(script.claims, changed);
const header =
  (changed: object): Provide =>
  ({ script }) =>
    Object.assign(script.header, changed);
const found =
  (changed: object): Provide =>
  ({ script }) =>
    Object.assign(script.discovery, changed);
const token =
  (change: Script['token'] & {}): Provide =>
  ({ script }) => {
    script.token = change;
  };
const answer =
  (path: string, send: (response: ServerResponse) => void): Provide =>
  ({ script }) => {
    script.answer[path] = send;
  };
const all =
  (...provide: Provide[]): Provide =>
  (provider) => {
    for (const one of provide) one(provider);
  };

/** The address at which the browser comes back. */
refuses('a forged state', notUnderWay, good, (back) => back.set('state', 'x'.repeat(43)));
refuses('no state', notUnderWay, good, (back) => back.delete('state'));
refuses('two states', notUnderWay, good, (back) => back.append('state', 'x'));
refuses('no code', untrusted, good, (back) => back.delete('code'));
refuses('another issuer in the address', untrusted, good, (back) => back.set('iss', 'https://evil.example'));
refuses('a refusal of the provider', refused('access_denied'), good, (back) => {
  back.delete('code');
  back.set('error', 'access_denied');
  back.set('error_description', '<b>evil</b>');
});

/** The claims of the ID token. */
const second = Math.floor(Date.now() / 1_000);
refuses('another issuer in the token', untrusted, claims({ iss: 'https://evil.example' }));
refuses('another audience', untrusted, claims({ aud: 'another' }));
refuses('two audiences without azp', untrusted, claims({ aud: ['console', 'another'] }));
refuses('another nonce', untrusted, claims({ nonce: 'another' }));
refuses('no nonce', untrusted, claims({ nonce: undefined }));
refuses('a token that is past', clocks, claims({ exp: second - 61 }));
refuses('a token that is not yet valid', clocks, claims({ nbf: second + 600 }));
refuses('a token that is issued in ten minutes', clocks, claims({ iat: second + 600, exp: second + 900 }));
refuses('no subject', untrusted, claims({ sub: undefined }));
refuses('a subject with a control character', badSubject, claims({ sub: 'a\nb' }));
refuses('a subject of 10,000 characters', badSubject, claims({ sub: 'x'.repeat(10_000) }));

/** The signature of the ID token. */
const everyAlgorithm = found({ id_token_signing_alg_values_supported: ['none', 'HS256', 'RS256'] });
refuses('a key that is not published', untrusted, (provider) => provider.rotate(false));
refuses('the algorithm none', untrusted, header({ alg: 'none' }));
refuses('the algorithm HS256', untrusted, header({ alg: 'HS256' }));
refuses('none where the provider names it', untrusted, all(everyAlgorithm, header({ alg: 'none' })));
refuses('HS256 where the provider names it', untrusted, all(everyAlgorithm, header({ alg: 'HS256' })));
refuses(
  'a changed signature',
  untrusted,
  token((whole) => whole.slice(0, -20) + 'A'.repeat(20)),
);
refuses(
  'no signature',
  untrusted,
  token((whole) => `${whole.slice(0, whole.lastIndexOf('.'))}.`),
);
refuses(
  'an encrypted token',
  untrusted,
  token((whole) => `${whole}.x.x`),
);
const moreGroups = (whole: string) => {
  const [head, body, signature] = whole.split('.');
  const own = JSON.parse(Buffer.from(body!, 'base64url').toString());
  const more = Buffer.from(JSON.stringify({ ...own, groups: ['admins'] })).toString('base64url');
  return `${head}.${more}.${signature}`;
};
refuses('changed claims', untrusted, token(moreGroups));

/** What the provider says of itself, and how it answers. */
const discovery = '/.well-known/openid-configuration';
const send = (status: number, type: string, text: string) => (response: ServerResponse) => {
  response.writeHead(status, { 'Content-Type': type }).end(text);
};
const moved = (response: ServerResponse) => {
  response.writeHead(302, { Location: 'http://127.0.0.1:1/' }).end();
};
const endless = (response: ServerResponse) => {
  response.writeHead(200, { 'Content-Type': 'application/json' });
  const piece = Buffer.alloc(64 * 1024, ' ');
  const write = () => {
    while (!response.destroyed && response.write(piece));
  };
  response.on('drain', write);
  write();
};
refuses('another issuer in the discovery', noAnswer, found({ issuer: 'https://evil.example' }));
refuses('tokens without TLS', noAnswer, found({ token_endpoint: 'http://evil.example/token' }));
refuses('a page without TLS', noAnswer, found({ authorization_endpoint: 'http://evil.example/' }));
refuses('a provider that is down', noAnswer, ({ close }) => close());
refuses(
  'a provider that hangs up',
  noAnswer,
  answer('/token', (response) => response.destroy()),
);
refuses('a discovery of HTML', noAnswer, answer(discovery, send(200, 'text/html', '<p>Hello')));
refuses('a discovery with 500', noAnswer, answer(discovery, send(500, 'application/json', '{}')));
refuses('an endless discovery', noAnswer, answer(discovery, endless));
refuses(
  'a silent token endpoint',
  noAnswer,
  answer('/token', () => {}),
);
refuses('an endless token', noAnswer, answer('/token', endless));
refuses('a token endpoint with 500', noAnswer, answer('/token', send(500, 'text/html', 'oops')));
refuses('a token endpoint that leads elsewhere', noAnswer, answer('/token', moved));
const wrongSecret = send(401, 'application/json', '{"error":"invalid_client"}');
const notAccepted: Expected = [503, /does not accept this service \(invalid_client\)/];
refuses('a wrong secret', notAccepted, answer('/token', wrongSecret));
const challenge = (response: ServerResponse) => {
  response.setHeader('WWW-Authenticate', 'Basic realm="provider"');
  wrongSecret(response);
};
refuses('a wrong secret with a challenge', notAccepted, answer('/token', challenge));
refuses('endless keys', noAnswer, answer('/keys', endless));
refuses('keys that lead elsewhere', noAnswer, answer('/keys', moved));

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
    return { status, said: notUnderWay[1].test(text) };
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

test('a rotated key works after the keys are fetched again, at most once in 10 seconds', async (t) => {
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

test('sessions go on while the provider is down, and it is asked again once it is back', async (t) => {
  const { open, provider } = await scene(t);
  const person = open();
  await signIn(person, provider);
  provider.close();
  assert.equal((await signIn(open(), provider)).status, 503);
  assert.equal((await person.get('/console/partners/acme')).status, 200);
  await provider.open();
  assert.equal((await signIn(open(), provider)).status, 200);
});

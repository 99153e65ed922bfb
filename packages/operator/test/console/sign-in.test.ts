/** Signing in with an identity provider, and what a provider or an attacker may send. */
import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { type TestContext, test } from 'node:test';
import { type ScriptedProvider, scriptedProvider, signed } from '../../../testkit/identity/scripted.ts';
import type { OidcSettings } from '../../src/identity/settings.ts';
import { openInstance } from '../admin/scene.ts';
import { consoleScene } from './scene.ts';

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
  const oidc: OidcSettings = {
    issuer: provider.issuer,
    clientId: 'console',
    clientSecret: 'a-secret-of-the-test',
    roleClaim: 'groups',
    roles: [
      ['viewers', 'VIEWER'],
      ['support', 'SUPPORT'],
      ['admins', 'ADMIN'],
    ],
    scopes: 'openid profile email',
    sessionMs: 3_600_000,
    isOnly: false,
    ...settings,
  };
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

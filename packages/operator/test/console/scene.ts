/** The console on a real socket, and people who use it with a browser's manners. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { AdminRole } from '@partner-network/contract/permissions';
import type { Store } from '../../../store/src/port.ts';
import { adminKeys } from '../../../testkit/admin/started.ts';
import { keepSecret } from '../../../testkit/watch/logs.ts';
import type { OidcSettings } from '../../src/identity/settings.ts';
import { adminScene } from '../admin/scene.ts';

type Texts = Readonly<Record<string, string>>;

/** A browser at an address: it keeps the cookie, and says where its forms come from. */
export function browserAt(address: string, cookie = '') {
  const ask = async (path: string, headers: Texts, body?: URLSearchParams) => {
    const response = await fetch(address + path, {
      redirect: 'manual',
      headers: { ...(browser.cookie && { cookie: browser.cookie }), ...headers },
      ...(body && { method: 'POST', body }),
    });
    const [set] = response.headers.getSetCookie();
    if (set !== undefined) browser.cookie = set.split(';')[0]!;
    const text = await response.text();
    const { status, headers: answered } = response;
    return { status, headers: answered, text, to: answered.get('location') ?? '' };
  };
  const browser = {
    cookie,
    get: (path: string) => ask(path, {}),
    /** Sends the fields alone, without a token. */
    send: (path: string, fields: Texts, headers: Texts = {}) =>
      ask(
        path,
        { origin: address, 'sec-fetch-site': 'same-origin', ...headers },
        new URLSearchParams(fields),
      ),
    /** The token of the session, as a page has it. */
    token: async () => /name="token" value="([\w-]+)"/.exec((await browser.get('/console')).text)?.[1] ?? '',
    /** Sends a form with the token of the session. */
    post: async (path: string, fields: Texts = {}) =>
      browser.send(path, { token: await browser.token(), ...fields }),
    signIn: (key: string, next = '/console') => browser.send('/console/sign-in', { key, next }),
  };
  return browser;
}

export type TestBrowser = ReturnType<typeof browserAt>;

/** Sign-in with the provider of a test. */
export const oidcOf = (issuer: string, settings: Partial<OidcSettings> = {}): OidcSettings => ({
  'oidc-issuer': new URL(issuer),
  'oidc-client-id': 'console',
  'oidc-client-secret': 'a-secret-of-the-test',
  'oidc-role-claim': 'groups',
  'oidc-role': [
    ['viewers', 'VIEWER'],
    ['support', 'SUPPORT'],
    ['admins', 'ADMIN'],
  ],
  'oidc-scopes': 'openid profile email',
  'oidc-session': 3_600_000,
  'oidc-only': false,
  ...settings,
});

export async function consoleScene(t: TestContext, engine = 'sqlite', oidc?: OidcSettings) {
  const scene = await adminScene(t, engine, oidc);
  const open = (cookie?: string) => browserAt(scene.address, cookie);
  const as = async (role: AdminRole) => {
    const browser = open();
    const { status } = await browser.signIn(adminKeys[role]);
    assert.equal(status, 303);
    keepSecret('key', browser.cookie.split('=')[1]!);
    return browser;
  };
  return { ...scene, open, as };
}

export const request_id = '0190aaaa-0000-7000-8000-000000000001';
const hourMs = 3_600_000;
/** The beginning of this hour, or of an earlier one. */
export const hourAgo = (hours: number) => {
  const now = Date.now();
  return new Date(now - (now % hourMs) - hours * hourMs).toISOString();
};

/** What a partner was answered, a receipt, and an import. */
export async function fillUse(store: Store): Promise<void> {
  const use = { partner_id: 'acme', operation: 'listBalances' };
  await store.recordUsage([
    { ...use, from: hourAgo(0), key_id: 'KEY_0', code: 'OK', count: 1200 },
    { ...use, from: hourAgo(0), key_id: 'KEY_1', code: 'INSUFFICIENT_SCOPES', count: 41 },
    { ...use, from: hourAgo(5), key_id: 'KEY_0', code: 'GRANT_EXPIRED', count: 7 },
    { ...use, from: hourAgo(200), key_id: 'KEY_0', code: 'GRANT_REVOKED', count: 3 },
  ]);
  const operation = 'listBalances';
  const receipt = {
    at: new Date().toISOString(),
    request_id,
    operation,
    partner_id: 'acme',
    key_id: 'KEY_0',
  } as const;
  await store.recordReceipts([
    { ...receipt, customer_id: 'alice', grant_id: 'g-expired', outcome: 'GRANT_EXPIRED' },
  ]);
  const imported = { actor: 'ops@host', action: 'import brands' } as const;
  await store.addAudit(imported, 'brands', { source: 'brands.jsonl', written: 3, rejected: 1 });
}

/** A page of each kind. */
export const pagePaths = [
  '/console',
  '/console/partners/acme',
  '/console/keys/KEY_0',
  '/console/customers/alice',
  '/console/brands/acme/b1',
  `/console/requests/${request_id}`,
  '/console/receipts',
  '/console/receipts/customers',
  '/console/data',
  '/console/audit',
  '/console/health',
];

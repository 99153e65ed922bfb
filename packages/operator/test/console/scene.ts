/** The console on a real socket, and people who use it with a browser's manners. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { AdminRole } from '@partner-network/contract/permissions';
import type { Store } from '../../../store/src/port.ts';
import { adminKeys } from '../../../testkit/admin/started.ts';
import { keepSecret } from '../../../testkit/watch/logs.ts';
import { adminScene } from '../admin/scene.ts';

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Where a redirect leads. */
  readonly to: string;
}

type Sent = Readonly<Record<string, string>>;
type FormFields = Readonly<Record<string, string>> | readonly (readonly [string, string])[];

async function answerOf(response: Response): Promise<Answer> {
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    text,
    to: response.headers.get('location') ?? '',
  };
}

/** A browser at an address: it keeps the cookie, and says where its forms come from. */
export function browserAt(address: string, cookie = '') {
  const browser = {
    cookie,
    get: async (path: string, headers: Sent = {}) =>
      answerOf(
        await fetch(address + path, {
          redirect: 'manual',
          headers: { ...(browser.cookie && { cookie: browser.cookie }), ...headers },
        }),
      ),
    /** Sends the fields alone, without a token. */
    send: async (path: string, fields: FormFields, headers: Sent = {}) => {
      const body = new URLSearchParams(fields as Record<string, string>);
      const answer = await answerOf(
        await fetch(address + path, {
          method: 'POST',
          redirect: 'manual',
          body,
          headers: {
            origin: address,
            'sec-fetch-site': 'same-origin',
            ...(browser.cookie && { cookie: browser.cookie }),
            ...headers,
          },
        }),
      );
      const [set] = answer.headers.getSetCookie();
      if (set !== undefined) browser.cookie = set.split(';')[0]!;
      return answer;
    },
    /** The token of the session, as a page has it. */
    token: async () => tokenIn((await browser.get('/console')).text),
    /** Sends a form with the token of the session. */
    post: async (path: string, fields: Readonly<Record<string, string>> = {}, headers: Sent = {}) =>
      browser.send(path, { token: await browser.token(), ...fields }, headers),
    signIn: (key: string, next = '/console', headers: Sent = {}) =>
      browser.send('/console/sign-in', { key, next }, headers),
  };
  return browser;
}

export type TestBrowser = ReturnType<typeof browserAt>;

function tokenIn(page: string): string {
  return /name="token" value="([\w-]+)"/.exec(page)?.[1] ?? '';
}

export async function consoleScene(t: TestContext, engine = 'sqlite') {
  const scene = await adminScene(t, engine);
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

/** What a partner was answered, and a receipt. */
export async function fillUse(store: Store): Promise<void> {
  const use = { partner_id: 'acme', operation: 'listBalances' };
  await store.recordUsage([
    { ...use, from: hourAgo(0), key_id: 'KEY_0', code: 'OK', count: 1200 },
    { ...use, from: hourAgo(0), key_id: 'KEY_1', code: 'INSUFFICIENT_SCOPES', count: 41 },
    { ...use, from: hourAgo(5), key_id: 'KEY_0', code: 'GRANT_EXPIRED', count: 7 },
    { ...use, from: hourAgo(200), key_id: 'KEY_0', code: 'GRANT_REVOKED', count: 3 },
  ]);
  const receipt = { at: new Date().toISOString(), request_id, partner_id: 'acme', key_id: 'KEY_0' };
  await store.recordReceipts([
    { ...receipt, customer_id: 'alice', grant_id: 'g-expired', outcome: 'GRANT_EXPIRED' },
  ]);
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
  '/console/data',
  '/console/audit',
  '/console/health',
];

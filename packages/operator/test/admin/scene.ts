/** The administrative API on a real socket and a real database. */

import assert from 'node:assert/strict';
import { connect } from 'node:net';
import type { TestContext } from 'node:test';
import type { AdminRole } from '@partner-network/contract/permissions';
import { adminKeyOf, digestOfKey } from '../../../service/src/auth.ts';
import { type DatabaseAddress, parseDatabaseUrl, toAdminister } from '../../../store/src/address.ts';
import { openStore } from '../../../store/src/engines.ts';
import type { Store } from '../../../store/src/port.ts';
import { assertDocumented } from '../../../testkit/admin/documented.ts';
import { adminKeys, createAdminKeys } from '../../../testkit/admin/started.ts';
import { byTest, createdAt, fillFixture } from '../../../testkit/fixtures/fixture.ts';
import { urlInRole } from '../../../testkit/servers/roles.ts';
import { openTestDatabase, serveOptions } from '../../../testkit/service/database.ts';
import { keepKey, watchedLog } from '../../../testkit/watch/logs.ts';
import { openAdmin } from '../../src/console/serve.ts';
import type { OidcSettings } from '../../src/identity/settings.ts';

interface Sent {
  readonly role?: AdminRole;
  readonly key?: string;
  readonly method?: string;
  readonly body?: string | Uint8Array | object;
  readonly headers?: Readonly<Record<string, string>>;
}

// biome-ignore lint/suspicious/noExplicitAny: a test reads any field of an answer.
export type Body = any;

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Body;
}

/** Asserts the status and the errors of an answer: codes, each with its field if it has one. */
export function assertErrors({ status, body }: Answer, expected: number, ...errors: string[]) {
  const found = (body.errors as { code: string; field?: string }[] | undefined) ?? [];
  const texts = found.map(({ code, field }) => (field === undefined ? code : `${code} ${field}`));
  assert.deepEqual({ status, errors: texts }, { status: expected, errors }, JSON.stringify(body));
}

/** Stores an administrative key that expires at a time. Returns its text. */
export async function createKeyUntil(expires_at: string, store: Store): Promise<string> {
  const text = adminKeyOf('sandbox', 'until'.padEnd(43, '0'));
  keepKey(text);
  const key = { id: 'ADMIN_UNTIL', name: 'until', role: 'ADMIN', last_four: text.slice(-4) } as const;
  await store.createAdminKey({ ...key, created_at: createdAt, expires_at }, digestOfKey(text), byTest);
  return text;
}

/** A line of a batch of balances. */
export const balance = (id: string, more: object = {}) => ({
  customer_id: 'bob',
  id,
  type: 'CHECKING',
  currency: 'USD',
  amount: 5,
  updated_at: '2026-02-01T00:00:00.000Z',
  ...more,
});

/** The head of a request, as bytes on a socket, without its end. */
export const headOf = (line: string, type: string, key = adminKeys.ADMIN) =>
  `${line} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\nContent-Type: ${type}\r\n`;

/** Opens an instance of the service on a database, until the test ends or closes it. */
export async function openInstance(t: TestContext, database: DatabaseAddress, oidc?: OidcSettings) {
  const store = await openStore(database, 'sandbox', { ...toAdminister, ...serveOptions });
  const { log, lines } = watchedLog();
  const opened = new AsyncDisposableStack();
  opened.defer(() => store.close());
  const close = () => opened.disposeAsync();
  t.after(close);
  const settings = { listener: { host: '127.0.0.1', port: 0 }, publicUrl: undefined, database, oidc };
  return { ...(await openAdmin(store, settings, log, opened)), lines, close };
}

export async function adminScene(t: TestContext, engine: string, oidc?: OidcSettings) {
  const database = await openTestDatabase(t, 'fixture', fillFixture, engine);
  await createAdminKeys(database.store);
  const isPostgres = engine === 'postgres';
  const url = isPostgres ? await urlInRole(t, database.url, 'network_admin') : database.url;
  const address = parseDatabaseUrl(url)!;
  const admin = await openInstance(t, address, oidc);

  async function send(path: string, { role = 'ADMIN', key, body, headers, ...sent }: Sent = {}) {
    const method = sent.method ?? (body === undefined ? 'GET' : 'POST');
    const isPlain = typeof body === 'object' && !(body instanceof Uint8Array);
    const response = await fetch(`${admin.address}/admin/v1${path}`, {
      method,
      headers: {
        authorization: `Bearer ${key ?? adminKeys[role]}`,
        ...(isPlain && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: isPlain ? JSON.stringify(body) : (body as string) }),
    });
    const text = await response.text();
    const answer: Answer = {
      status: response.status,
      headers: response.headers,
      body: text === '' ? undefined : JSON.parse(text),
    };
    assert.match(answer.headers.get('x-request-id') ?? '', /^[0-9a-f-]{36}$/);
    assertDocumented(method, path, answer);
    return answer;
  }

  const put = (path: string, body: object, more: Sent = {}) => send(path, { ...more, method: 'PUT', body });
  const post = (path: string, body?: object, more: Sent = {}) =>
    send(path, { ...more, method: 'POST', ...(body && { body }) });
  /** Sends a batch, as lines. */
  const batch = (kind: string, records: readonly object[], query = '', more: Sent = {}) =>
    send(`/${kind}/batches${query}`, {
      role: 'INGEST',
      body: records.map((record) => `${JSON.stringify(record)}\n`).join(''),
      headers: { 'content-type': 'application/x-ndjson' },
      ...more,
    });
  /** A connection on which a test writes bytes. */
  const dial = () => {
    const socket = connect(Number(new URL(admin.address).port), '127.0.0.1');
    t.after(() => socket.destroy());
    return socket;
  };
  return { ...admin, ...database, database: address, send, put, post, batch, dial };
}

export const engines = ['sqlite', 'postgres'];

/** Fuzzes the administrative API: any operation with any path, query, headers and body. */
import assert from 'node:assert/strict';
import { gzipSync } from 'node:zlib';
import { type AdminOperation, adminOperations } from '@partner-network/contract/admin/operations';
import { adminRoles } from '@partner-network/contract/permissions';
import fc from 'fast-check';
import { openAdmin } from '../../packages/operator/src/console/serve.ts';
import { parseDatabaseUrl, toAdminister } from '../../packages/store/src/address.ts';
import { openStore } from '../../packages/store/src/engines.ts';
import { assertDocumented } from '../../packages/testkit/admin/documented.ts';
import { adminKeys, createAdminKeys } from '../../packages/testkit/admin/started.ts';
import { keys } from '../../packages/testkit/fixtures/fixture.ts';
import type { Lifetime } from '../../packages/testkit/fixtures/lifetime.ts';
import { openFuzzStore, searchedLog } from './http-service.ts';
import type { Target } from './run.ts';
import { anyText } from './words.ts';

const operations = Object.values<AdminOperation>(adminOperations);

/** Ids that exist, ids of nobody, and texts that are hard to encode, to store or to show. */
const id = fc.oneof(
  fc.constantFrom('acme', 'zenith', 'alice', 'KEY_0', 'g-active', 'new', 'find', '.', '..'),
  anyText(12).map((text) => text || 'x'),
);
const time = fc.constantFrom(
  '2026-01-01T00:00:00Z',
  '2027-01-31T08:00:00.5+02:00',
  '0001-01-01T00:00:00Z',
  'soon',
);
const value = fc.oneof(
  id,
  time,
  fc.constantFrom('CHECKING', 'USD', 'ACTIVE', 'REVOKED', 'BRANDS_READ', keys.acme, adminKeys.ADMIN),
  fc.integer(),
  fc.jsonValue({ maxDepth: 3 }),
  fc.constant(['BRANDS_READ']),
);

/** Fields of all bodies and lines. */
const fields = [
  ...new Set([
    ...operations.flatMap(({ bodies = [] }) => bodies.flatMap(({ properties }) => Object.keys(properties))),
    'id',
    'customer_id',
    'type',
    'currency',
    'amount',
    'updated_at',
    'deleted_at',
    'status',
    'reference_id',
    'metadata',
    'colour',
    '__proto__',
  ]),
];
const record = fc.dictionary(fc.constantFrom(...fields), value, { maxKeys: 8 });

const body = fc.oneof(
  record.map((one) => JSON.stringify(one)),
  fc.array(record, { maxLength: 5 }).map((all) => all.map((one) => JSON.stringify(one)).join('\n')),
  fc.array(record, { maxLength: 5 }).map((all) => JSON.stringify(all)),
  anyText(40),
  fc.constantFrom(
    '',
    '{',
    '[',
    '{"name":"P"}',
    '\ufeff{}',
    '['.repeat(5_000),
    `{"a":"${'x'.repeat(70_000)}"}`,
  ),
);

const request = fc.record({
  operation: fc.constantFrom(...operations),
  ids: fc.array(id, { minLength: 3, maxLength: 3 }),
  method: fc.option(fc.constantFrom('GET', 'PUT', 'POST', 'HEAD', 'OPTIONS', 'DELETE'), { freq: 8 }),
  query: fc.dictionary(
    fc.constantFrom(
      ...new Set(operations.flatMap(({ parameters = {} }) => Object.keys(parameters))),
      'unknown',
    ),
    fc.oneof(id, time, fc.constantFrom('1', '0', 'day', 'skip', 'stop', 'true', 'false')),
    { maxKeys: 3 },
  ),
  role: fc.oneof({ weight: 6, arbitrary: fc.constant('ADMIN') }, fc.constantFrom(...adminRoles, 'none')),
  body,
  type: fc.constantFrom('application/json', 'application/x-ndjson', 'text/plain', ''),
  encoding: fc.constantFrom('', '', '', 'gzip', 'br'),
  isPacked: fc.boolean(),
  onBehalfOf: fc.option(fc.constantFrom('Zoe', ' ', 'x'.repeat(300)), { freq: 4 }),
});

type Request = typeof request extends fc.Arbitrary<infer R> ? R : never;

export const admin: Target = {
  name: 'admin',
  promise: 'each request gets a documented answer of its own, never a 5xx, and no key is in the log',
  batchRuns: 200,
  open: async (lifetime) => {
    const { address, leaks } = await serve(lifetime);
    return {
      property: fc.asyncProperty(request, async (sent) => {
        await judge(address, sent);
        assert.deepEqual(leaks, [], 'a key in the log');
      }),
      afterBatch: async () => {
        const response = await fetch(`${address}/admin/v1/partners`, {
          headers: { authorization: `Bearer ${adminKeys.VIEWER}` },
        });
        assert.equal(response.status, 200, await response.text());
      },
    };
  },
};

async function serve(lifetime: Lifetime) {
  const { store: filled, path } = await openFuzzStore(lifetime);
  await createAdminKeys(filled);
  const database = parseDatabaseUrl(`sqlite:${path}`)!;
  const store = await openStore(database, 'sandbox', toAdminister);
  const { log, leaks } = searchedLog({ ...keys, ...adminKeys });
  const opened = new AsyncDisposableStack();
  const settings = { listener: { host: '127.0.0.1', port: 0 }, publicUrl: undefined, database };
  const { address } = await openAdmin(store, settings, log, opened);
  lifetime.after(async () => {
    await opened.disposeAsync();
    await store.close();
  });
  return { address, leaks };
}

async function judge(address: string, sent: Request): Promise<void> {
  const { operation, role, type, encoding, onBehalfOf } = sent;
  const method = sent.method ?? operation.method;
  let used = 0;
  const path = operation.path.replaceAll(/\{\w+\}/g, () => encoded(sent.ids[used++]!));
  const query = new URLSearchParams(
    Object.entries(sent.query).map(([name, text]): [string, string] => [name, text.toWellFormed()]),
  );
  const hasBody = method !== 'GET' && method !== 'HEAD';
  const response = await fetch(`${address}${path}?${query}`, {
    method,
    headers: {
      ...(role !== 'none' && { authorization: `Bearer ${adminKeys[role as keyof typeof adminKeys]}` }),
      ...(type !== '' && { 'content-type': type }),
      ...(encoding !== '' && { 'content-encoding': encoding }),
      ...(onBehalfOf !== null && { 'on-behalf-of': onBehalfOf }),
    },
    ...(hasBody && { body: sent.isPacked && encoding === 'gzip' ? gzipSync(sent.body) : sent.body }),
  });
  const text = await response.text();
  const { status } = response;
  assert.ok(status < 500, `${status} ${text}`);
  assert.match(response.headers.get('x-request-id') ?? '', /^[0-9a-f-]{36}$/);
  if (method === 'HEAD' || method === 'OPTIONS') return;
  for (const secret of [keys.acme, adminKeys.ADMIN]) assert.ok(!text.includes(secret), 'a key in the answer');
  // A path with dots is another path once the client has resolved it.
  if (!sent.ids.some((text) => /^\.{1,2}$/.test(text))) {
    assertDocumented(method, path, { status, body: JSON.parse(text) });
  }
}

function encoded(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}

/** Who may send what to the administrative API. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type AdminOperationId,
  adminBasePath,
  adminOperations,
} from '@partner-network/contract/admin/operations';
import { adminRoles, mayUse } from '@partner-network/contract/permissions';
import { adminKeyOf } from '../../../service/src/auth.ts';
import { adminKeys } from '../../../testkit/admin/started.ts';
import { byTest, createdAt, keys, past } from '../../../testkit/fixtures/fixture.ts';
import { until } from '../../../testkit/fixtures/lifetime.ts';
import { keepKeysIn } from '../../../testkit/watch/logs.ts';
import { adminScene, assertErrors, createKeyUntil } from './scene.ts';

const all = Object.entries(adminOperations) as [AdminOperationId, { method: string; path: string }][];

test('every operation refuses every other role before it looks at anything else', async (t) => {
  const { send } = await adminScene(t, 'sqlite');
  for (const [id, { method, path }] of all) {
    const needed = adminOperations[id].permission;
    for (const role of adminRoles.filter((role) => !mayUse(role, needed))) {
      // The query, the body and its type are wrong, too, and the answer does not mention it.
      const body = method === 'GET' ? {} : { body: 'not JSON', headers: { 'content-type': 'text/plain' } };
      const place = path.slice(adminBasePath.length).replaceAll(/\{\w+\}/g, '%ff');
      const answer = await send(`${place}?unknown=1`, { role, method, ...body });
      assertErrors(answer, 403, 'INSUFFICIENT_ROLE');
      assert.match(answer.body.errors[0].detail, new RegExp(`the role ${needed}: .* the role ${role}\\.$`));
    }
  }
});

test('an INGEST key may send batches and nothing else; an ADMIN key may send everything', () => {
  for (const [id] of all) {
    const { permission: role } = adminOperations[id];
    assert.equal(mayUse('INGEST', role), id.startsWith('send'), id);
    assert.ok(mayUse('ADMIN', role), id);
  }
});

test('a missing, malformed or unknown key, and a key of a partner, are all UNAUTHORIZED', async (t) => {
  const { send, address } = await adminScene(t, 'sqlite');
  const unknown = adminKeyOf('sandbox', 'never'.padEnd(43, '0'));
  for (const key of [unknown, keys.acme, `${adminKeys.ADMIN}x`, 'x']) {
    const refused = await send('/partners', { key });
    assertErrors(refused, 401, 'UNAUTHORIZED');
    assert.match(refused.body.errors[0].detail, /administrative key, which begins with pna_/);
  }
  assert.equal((await fetch(`${address}/admin/v1/partners`)).status, 401);
  const live = adminKeyOf('production', 'live'.padEnd(43, '0'));
  const mismatch = await send('/partners', { key: live });
  assertErrors(mismatch, 401, 'API_KEY_ENVIRONMENT_MISMATCH');
  assert.match(mismatch.body.errors[0].detail, /pna_test_/);
});

test('the service for partners refuses administrative keys like unknown ones', async (t) => {
  const { startTestService } = await import('../../../testkit/service/service.ts');
  const service = await startTestService(t);
  const { status, text } = await service.brands('', { key: adminKeys.ADMIN });
  assert.deepEqual([status, JSON.parse(text).errors[0].code], [401, 'UNAUTHORIZED']);
});

test('a revoked key is refused within a second, and an expired one at once', async (t) => {
  const { send, store } = await adminScene(t, 'sqlite');
  const expired = await send('/partners', { key: await createKeyUntil(past, store) });
  assertErrors(expired, 401, 'API_KEY_EXPIRED');
  assert.match(expired.body.errors[0].detail, /^Ask the operator for another administrative key/);
  assert.equal((await send('/partners', { role: 'VIEWER' })).status, 200);
  await store.revokeAdminKey('ADMIN_VIEWER', createdAt, byTest);
  const revokedMs = performance.now();
  await until(20_000, async () => (await send('/partners', { role: 'VIEWER' })).status === 401);
  assert.ok(performance.now() - revokedMs < 2_000);
  assertErrors(await send('/partners', { role: 'VIEWER' }), 401, 'API_KEY_REVOKED');
});

test('the last use of an administrative key is noted', async (t) => {
  const { send, store, close } = await adminScene(t, 'sqlite');
  await send('/partners');
  await close();
  const uses = await store.lastUses(['ADMIN_ADMIN']);
  assert.match(uses.get('ADMIN_ADMIN') ?? '', /:00\.000Z$/);
});

test('unknown paths are 404 and other methods 405, with and without a key', async (t) => {
  const { send, address } = await adminScene(t, 'sqlite');
  for (const path of ['/nope', '/partners/', '/partners/a/b']) {
    assertErrors(await send(path), 404, 'NOT_FOUND');
  }
  const refused = await send('/partners', { method: 'DELETE' });
  assertErrors(refused, 405, 'METHOD_NOT_ALLOWED');
  assert.equal(refused.headers.get('allow'), 'GET, HEAD, OPTIONS');
  const { status } = await fetch(`${address}/admin/v1/nope`);
  assert.equal(status, 404);
});

test('a key is in the answer that creates it, and in no other answer, log line or audit entry', async (t) => {
  const { send, put, post, lines, close } = await adminScene(t, 'sqlite');
  const body = { partner_id: 'acme', scopes: ['BRANDS_READ'] };
  const { secret } = (await put('/keys/K', body)).body;
  const administrative = adminKeyOf('sandbox', 'leaked'.padEnd(43, '0'));
  keepKeysIn(secret);
  keepKeysIn(administrative);
  const answers = [
    await put('/keys/K', body),
    await send('/keys/K'),
    await post('/keys/find', { key: secret }),
    await post('/keys/find', { key: secret, colour: 'red' }),
    await post('/keys/find', { key: administrative }),
    await send('/partners', { key: secret }),
    await send('/partners', { key: administrative }),
    await send(`/partners?cursor=${secret}`),
    await send(`/partners?${secret}=1`),
    await send(`/audit?since=${secret}`),
    await send('/audit'),
    await post('/keys/K/revoke'),
  ];
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 200, 200, 400, 404, 401, 401, 400, 400, 400, 200, 200],
  );
  answers.push(await send(`/partners/${secret}`));
  await close();
  const said = JSON.stringify([answers.map((answer) => answer.body), lines()]);
  for (const key of [secret, administrative]) assert.ok(!said.includes(key.slice(-20)));
});

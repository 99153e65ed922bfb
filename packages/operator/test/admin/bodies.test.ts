/** Bodies of requests that change something. */
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { adminKeys } from '../../../testkit/admin/started.ts';
import { until } from '../../../testkit/fixtures/until.ts';
import { adminScene, assertErrors } from './scene.ts';

test('everything that is wrong with a body is said at once, and nothing is written', async (t) => {
  const { put, post, send, store } = await adminScene(t, 'sqlite');
  const wrong = { scopes: ['BRANDS_READ', 'BRANDS_READ'], name: '', expires_at: 'soon', colour: 'red' };
  assertErrors(
    await put('/keys/K', { ...wrong, partner_id: 7 }),
    400,
    ['EXPECTED_STRING', 'partner_id'],
    ['INVALID_ENUM_VALUE', 'scopes'],
    ['VALUE_EMPTY', 'name'],
    ['INVALID_TIME', 'expires_at'],
    ['UNKNOWN_FIELD', 'colour'],
  );
  assertErrors(
    await put('/keys/K', {}),
    400,
    ['MISSING_REQUIRED_FIELD', 'partner_id'],
    ['MISSING_REQUIRED_FIELD', 'scopes'],
  );
  assertErrors(await put('/keys/K', { replaces: 'X', overlap_seconds: -1 }), 400, [
    'VALUE_TOO_LOW',
    'overlap_seconds',
  ]);
  assertErrors(await post('/keys/K/revoke', { reason: '' }), 400, ['VALUE_EMPTY', 'reason']);
  assertErrors(await put('/partners/p', { name: 'P', reason: 'x'.repeat(257) }), 400, [
    'VALUE_TOO_LONG',
    'reason',
  ]);
  assertErrors(await put('/partners/p%00', { name: 'P' }), 400, ['INVALID_CHARACTER', 'id']);
  assertErrors(await put(`/partners/${'p'.repeat(129)}`, { name: 'P' }), 400, ['VALUE_TOO_LONG', 'id']);
  const headers = { 'content-type': 'application/json' };
  const sent = (body: string | Uint8Array) => send('/partners/p', { method: 'PUT', body, headers });
  for (const body of ['{', '', '[1', '{"name":"P"} x', Buffer.from([0x22, 0xff, 0x22]), '['.repeat(60_000)]) {
    assertErrors(await sent(body), 400, 'INVALID_JSON');
  }
  assertErrors(await sent('{"name":"P","name":"Q"}'), 400, ['DUPLICATE_KEY', 'name']);
  const list = await sent('[]');
  assertErrors(list, 400, 'EXPECTED_OBJECT');
  assert.equal(list.body.errors[0].detail, 'Write a JSON object here.');
  assertErrors(await sent(`{"name":"${'x'.repeat(65_536)}"}`), 413, 'BODY_TOO_LARGE');
  const typed = await send('/partners/p', { method: 'PUT', body: '{"name":"P"}' });
  assertErrors(typed, 415, 'UNSUPPORTED_MEDIA_TYPE');
  assert.equal(await store.findPartner('p'), undefined);
});

test('a client that waits for 100 Continue gets it, unless the request is refused', async (t) => {
  const { address } = await adminScene(t, 'sqlite');
  const { port } = new URL(address);
  const talk = async (key: string) => {
    const socket = connect(Number(port), '127.0.0.1');
    const body = '{"name":"P"}';
    socket.write(
      `PUT /admin/v1/partners/p HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n` +
        `Expect: 100-continue\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n`,
    );
    socket.once('data', () => socket.end(body));
    return text(socket);
  };
  assert.match(await talk(adminKeys.ADMIN), /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 201 /);
  assert.match(await talk(adminKeys.VIEWER), /^HTTP\/1\.1 403 /);
});

test('a client that leaves in the middle of a body changes nothing', async (t) => {
  const { address, store, lines, unanswered } = await adminScene(t, 'sqlite');
  const socket = connect(Number(new URL(address).port), '127.0.0.1');
  socket.write(
    `PUT /admin/v1/partners/p HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${adminKeys.ADMIN}\r\n` +
      'Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"name":"P"}',
  );
  await until(20_000, () => unanswered() === 1);
  socket.destroy();
  await until(20_000, () => lines().some(({ operation }) => operation === 'putPartner'));
  assert.equal(await store.findPartner('p'), undefined);
});

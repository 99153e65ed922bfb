/** Bodies of requests that change something. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { grant } from '../../../store/test/suite/records.ts';
import { adminKeys } from '../../../testkit/admin/started.ts';
import { byTest, createdAt } from '../../../testkit/fixtures/fixture.ts';
import { until } from '../../../testkit/fixtures/lifetime.ts';
import { adminScene, assertErrors, headOf } from './scene.ts';

const putPartner = headOf('PUT /admin/v1/partners/p', 'application/json');
const sendBatch = headOf('POST /admin/v1/balances/batches', 'application/x-ndjson');
const signIn = headOf('POST /console/sign-in', 'application/x-www-form-urlencoded');
const stranger = headOf('POST /admin/v1/balances/batches', 'application/x-ndjson', 'pna_test_unknown');
const next = `${headOf('GET /admin/v1/partners', 'text/plain')}\r\n`;
const chunked = 'Transfer-Encoding: chunked\r\n\r\n';
const mebibyte = 1024 * 1024;
const chunkOf = (bytes: number) => `${bytes.toString(16)}\r\n${'x'.repeat(bytes)}\r\n`;

test('everything that is wrong with a body is said at once, and nothing is written', async (t) => {
  const { put, send, store } = await adminScene(t, 'sqlite');
  const many = { scopes: ['BRANDS_READ', 'BRANDS_READ'], name: '', expires_at: 'soon', colour: 'red' };
  const first = ['EXPECTED_STRING partner_id', 'INVALID_ENUM_VALUE scopes', 'VALUE_EMPTY name'];
  const name = 'P';
  const wrong: readonly (readonly [path: string, body: object, ...errors: string[]])[] = [
    ['/keys/K', { ...many, partner_id: 7 }, ...first, 'INVALID_TIME expires_at', 'UNKNOWN_FIELD colour'],
    ['/keys/K', {}, 'MISSING_REQUIRED_FIELD partner_id', 'MISSING_REQUIRED_FIELD scopes'],
    ['/keys/K', { replaces: 'X', overlap_seconds: -1 }, 'VALUE_TOO_LOW overlap_seconds'],
    ['/partners/p', { name, reason: '' }, 'VALUE_EMPTY reason'],
    ['/partners/p', { name, reason: 'x'.repeat(257) }, 'VALUE_TOO_LONG reason'],
    ['/partners/p', { name: ' \u00a0 ' }, 'VALUE_EMPTY name'],
    ['/partners/p%00', { name }, 'INVALID_CHARACTER id'],
    [`/partners/${'p'.repeat(129)}`, { name }, 'VALUE_TOO_LONG id'],
  ];
  for (const [path, body, ...errors] of wrong) assertErrors(await put(path, body), 400, ...errors);
  const headers = { 'content-type': 'application/json' };
  const sent = (body: string | Uint8Array) => send('/partners/p', { method: 'PUT', body, headers });
  for (const body of ['{', '', '[1', '{"name":"P"} x', Buffer.from([0x22, 0xff, 0x22]), '['.repeat(60_000)]) {
    assertErrors(await sent(body), 400, 'INVALID_JSON');
  }
  assertErrors(await sent('{"name":"P","name":"Q"}'), 400, 'DUPLICATE_KEY name');
  const list = await sent('[]');
  assertErrors(list, 400, 'EXPECTED_OBJECT');
  assert.equal(list.body.errors[0].detail, 'Write a JSON object here.');
  assertErrors(await sent(`{"name":"${'x'.repeat(65_536)}"}`), 413, 'BODY_TOO_LARGE');
  const typed = await send('/partners/p', { method: 'PUT', body: '{"name":"P"}' });
  assertErrors(typed, 415, 'UNSUPPORTED_MEDIA_TYPE');
  assert.equal(await store.findPartner('p'), undefined);
});

test('ids that no address can name are refused, and stored ones stay readable and revocable', async (t) => {
  const { address, store } = await adminScene(t, 'sqlite');
  /** Not with fetch, which removes `.` and `..` from a path. */
  const send = async (method: string, path: string, body: object = {}) => {
    const headers = { authorization: `Bearer ${adminKeys.ADMIN}`, 'content-type': 'application/json' };
    const sent = request(address, { method, path: `/admin/v1${path}`, headers });
    sent.end(method === 'GET' ? undefined : JSON.stringify(body));
    const [response] = await once(sent, 'response');
    return { status: response.statusCode, headers: new Headers(), body: JSON.parse(await text(response)) };
  };
  const ofAcme = { partner_id: 'acme' };
  for (const dots of ['.', '..', '%2e', '.%2E']) {
    for (const [path, body, field] of [
      [`/partners/${dots}`, { name: 'P' }, 'id'],
      [`/keys/${dots}`, { ...ofAcme, scopes: ['BRANDS_READ'] }, 'id'],
      [`/customers/c/grants/${dots}`, ofAcme, 'id'],
      [`/customers/${dots}/grants/g`, ofAcme, 'customer_id'],
    ] as const) {
      const refused = await send('PUT', path, body);
      assertErrors(refused, 400, `INVALID_CHARACTER ${field}`);
      assert.match(refused.body.errors[0].detail, /^Choose another id: /);
    }
  }
  await store.createPartner({ id: '.', name: ' ', created_at: createdAt }, byTest);
  await store.createGrant({ ...grant, id: '..', customer_id: '.' }, byTest);
  assert.equal((await send('GET', '/partners/.')).body.partner.name, ' ');
  const { body } = await send('POST', '/customers/./grants/../revoke');
  assert.deepEqual([body.grant.id, body.grant.status], ['..', 'REVOKED']);
});

test('a client that waits for 100 Continue gets it, unless the request is refused', async (t) => {
  const { dial } = await adminScene(t, 'sqlite');
  const talk = async (key: string) => {
    const socket = dial();
    const body = '{"name":"P"}';
    const head = headOf('PUT /admin/v1/partners/p', 'application/json', key);
    const length = `Content-Length: ${body.length}\r\n`;
    socket.write(`${head}Expect: 100-continue\r\n${length}Connection: close\r\n\r\n`);
    socket.once('data', () => socket.end(body));
    return text(socket);
  };
  assert.match(await talk(adminKeys.ADMIN), /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 201 /);
  assert.match(await talk(adminKeys.VIEWER), /^HTTP\/1\.1 403 /);
});

test('a client that leaves in the middle of a body changes nothing', async (t) => {
  const { dial, store, lines, unanswered } = await adminScene(t, 'sqlite');
  const socket = dial();
  socket.write(`${putPartner}Content-Length: 100\r\n\r\n{"name":"P"}`);
  await until(20_000, () => unanswered() === 1);
  socket.destroy();
  await until(20_000, () => lines().some(({ operation }) => operation === 'putPartner'));
  assert.equal(await store.findPartner('p'), undefined);
});

/** A request, the bytes that its body may have, and what is in the answer to a larger one. */
const early: readonly (readonly [head: string, bytes: number, status: number, said: string])[] = [
  [sendBatch, 16 * mebibyte, 413, '"BATCH_TOO_LARGE"'],
  [putPartner, 64 * 1024, 413, '"BODY_TOO_LARGE"'],
  [signIn, 64 * 1024, 413, 'Shorten the body to at most 64 KiB.'],
  [stranger, 1, 401, '"UNAUTHORIZED"'],
];

test('a refusal can be read by a client that first sends its whole body, and then closes', async (t) => {
  const { dial, lines } = await adminScene(t, 'sqlite');
  const answered = () => lines().filter(({ msg }) => msg === 'request').length;
  for (const [head, bytes, status, said] of early) {
    const length = bytes + 8 * mebibyte;
    for (const [first, rest] of [
      [`Content-Length: ${length}\r\n\r\nx`, 'x'.repeat(length - 1)],
      [`${chunked}${chunkOf(bytes + 1)}`, `${chunkOf(8 * mebibyte)}0\r\n\r\n`],
    ] as const) {
      const socket = dial();
      const write = promisify(socket.write.bind(socket) as (text: string, done: () => void) => void);
      const before = answered();
      await write(`${head}Connection: close\r\n${first}`);
      await until(20_000, () => answered() > before);
      await write(rest);
      const answer = await text(socket);
      assert.ok(answer.startsWith(`HTTP/1.1 ${status} `) && answer.includes(said), answer);
    }
  }
});

test('a body in broken chunks gets a 400, and its connection closes', async (t) => {
  const { dial, store } = await adminScene(t, 'sqlite');
  for (const head of [sendBatch, `${sendBatch}Content-Encoding: gzip\r\n`, putPartner, signIn]) {
    for (const rest of ['', `\r\n${next}`, 'x'.repeat(256 * 1024)]) {
      const socket = dial();
      socket.write(`${head}${chunked}2\r\n{}\r\nzz\r\n${rest}`);
      const answer = await text(socket);
      assert.deepEqual(answer.match(/^HTTP.*|^Connection:.*/gm), [
        'HTTP/1.1 400 Bad Request',
        'Connection: close',
      ]);
      assert.match(answer, head === signIn ? /<li>Send / : /"MALFORMED_REQUEST","detail":"Send a valid HTTP/);
    }
  }
  assert.equal(await store.findPartner('p'), undefined);
});

/** Pipelining, tunnels and unknown methods on one connection. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { keys } from '../../testkit/fixtures/fixture.ts';
import { answersIn } from '../../testkit/fixtures/http.ts';
import { startTestService } from '../../testkit/service/service.ts';

const head = `GET /network/v1/brands HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${keys.acme}\r\n`;
const good = `${head}\r\n`;

test('answers the good requests of a pipeline before it rejects the bad request after them', async (t) => {
  const { raw } = await startTestService(t);
  assert.deepEqual(answersIn(await raw(`${good}${good}nonsense\r\n\r\n`)), [
    '200',
    '200',
    '400 MALFORMED_REQUEST',
  ]);
});

test('CONNECT is refused by its path, after the responses before it', async (t) => {
  const { raw } = await startTestService(t);
  const tunnel = 'CONNECT other.example:443 HTTP/1.1\r\nHost: a\r\n\r\n';
  assert.deepEqual(answersIn(await raw(tunnel)), ['404 NOT_FOUND']);
  assert.deepEqual(answersIn(await raw(`${good}${good}${tunnel}`)), ['200', '200', '404 NOT_FOUND']);
  const toPath = await raw('CONNECT /network/v1/brands HTTP/1.1\r\nHost: a\r\n\r\n');
  assert.deepEqual(answersIn(toPath), ['405 METHOD_NOT_ALLOWED']);
});

test('an unknown method is refused like every other: by its path first', async (t) => {
  const { raw } = await startTestService(t);
  for (const method of ['BREW', 'get', 'X-Y', 'PO']) {
    const known = await raw(`${method} /network/v1/brands?x HTTP/1.1\r\nHost: a\r\n\r\n`);
    assert.deepEqual(answersIn(known), ['405 METHOD_NOT_ALLOWED'], method);
    assert.match(known, /\r\nAllow: GET, HEAD, OPTIONS\r\n/);
    assert.deepEqual(answersIn(await raw(`${method} /x HTTP/1.1\r\nHost: a\r\n\r\n`)), ['404 NOT_FOUND']);
  }
  assert.deepEqual(answersIn(await raw(`${good}BREW /x HTTP/1.1\r\n\r\n`)), ['200', '404 NOT_FOUND']);
  const withBody = `${head}Content-Length: 4\r\n\r\na\nb `;
  assert.deepEqual(answersIn(await raw(`${withBody}BREW /x HTTP/1.1\r\n\r\n`)), ['200', '404 NOT_FOUND']);
});

test('a client that sends CONNECT and hangs up leaves the service intact', async (t) => {
  const { port, call } = await startTestService(t);
  for (let times = 0; times < 10; times += 1) {
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    socket.write('CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n');
    socket.resetAndDestroy();
  }
  assert.equal((await call('/assets/brand-placeholder.png')).status, 200);
});

for (const [what, bytes] of Object.entries({
  'an incomplete request': 'GET /x HT',
  CONNECT: 'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n',
})) {
  test(`a connection is closed after ${what}, though the client keeps it open`, async (t) => {
    const { port, server } = await startTestService(t);
    server.headersTimeout = 50;
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    t.after(() => socket.destroy());
    const [serverSide] = await once(server, 'connection');
    socket.write(bytes);
    const [answer] = await once(socket, 'data');
    assert.match(String(answer), /^HTTP\/1\.1 4/);
    await once(serverSide, 'close');
  });
}

test('a client that pipelines requests and never reads the responses is cut off', async (t) => {
  const { port, server, brands } = await startTestService(t);
  const socket = connect(port, '127.0.0.1');
  t.after(() => socket.destroy());
  socket.on('error', () => {});
  socket.pause();
  const [serverSide] = await once(server, 'connection');
  socket.write(good.repeat(500));
  await once(serverSide, 'close');
  assert.equal((await brands('', { key: keys.acme })).status, 200);
});

test('100 pipelined requests are answered in order', async (t) => {
  const { raw } = await startTestService(t);
  const last = good.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n');
  assert.deepEqual(answersIn(await raw(good.repeat(99) + last)), Array(100).fill('200'));
});

test('the response to the 1,000th request closes the connection; later requests are ignored', async (t) => {
  const { port, raw, logs } = await startTestService(t);
  const image = 'GET /assets/brand-placeholder.png HTTP/1.1\r\nHost: a\r\n\r\n'.replace('GET', 'HEAD');
  const socket = connect(port, '127.0.0.1');
  t.after(() => socket.destroy());
  let received = '';
  socket.setEncoding('latin1').on('data', (text: string) => {
    received += text;
  });
  const answers = () => received.split('HTTP/1.1 200 OK').length - 1;
  // Pipelined, but not more at a time than is allowed.
  for (let sent = 0; sent < 950; sent += 50) {
    socket.write(image.repeat(50));
    while (answers() < sent + 50) await once(socket, 'data');
  }
  assert.doesNotMatch(received, /Connection: close/);
  socket.write(image.repeat(60));
  await once(socket, 'close');
  assert.equal(answers(), 1_000);
  assert.equal(logs().match(/"msg":"request"/g)?.length, 1_000);
  assert.equal(received.match(/Connection: close/g)?.length, 1);
  assert.match(received.slice(received.lastIndexOf('HTTP/1.1')), /Connection: close/);
  assert.deepEqual(answersIn(await raw(`${head}Connection: close\r\n\r\n`)), ['200']);
});

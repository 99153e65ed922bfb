/** Data that does not become a request: the response, and the end of its connection. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { httpBounds } from '../../../common/src/bounds/http.ts';
import { answersIn } from '../../../testkit/fixtures/http.ts';
import { ask, brands, head, heldPage, shortFile, startSite } from '../site.ts';

// The real ones are a second and five.
Object.assign(httpBounds, { connectionsCheckMs: 20, headersTimeoutMs: 50 });

const good = ask();
const tunnel = head('other.example:443', 'CONNECT');

test('a request that does not arrive in time is a REQUEST_TIMEOUT, and the connection closes', async (t) => {
  const { raw } = await startSite(t);
  const answer = await raw(head());
  assert.match(answer, /^HTTP\/1\.1 408 Request Timeout\r\n.*\r\nConnection: close\r\n/s);
  assert.deepEqual(answersIn(answer), ['408 REQUEST_TIMEOUT']);
});

test('answers the good requests of a pipeline before it rejects the bad request after them', async (t) => {
  const { raw } = await startSite(t);
  const answers = answersIn(await raw(`${good}${good}nonsense\r\n\r\n`));
  assert.deepEqual(answers, ['200', '200', '400 MALFORMED_REQUEST']);
});

test('CONNECT is refused by its path, after the responses before it', async (t) => {
  const { raw } = await startSite(t);
  assert.deepEqual(answersIn(await raw(`${tunnel}\r\n`)), ['404 NOT_FOUND']);
  assert.deepEqual(answersIn(await raw(`${good}${good}${tunnel}\r\n`)), ['200', '200', '404 NOT_FOUND']);
  assert.deepEqual(answersIn(await raw(`${head(brands, 'CONNECT')}\r\n`)), ['405 METHOD_NOT_ALLOWED']);
});

test('an unknown method is refused like every other: by its path first', async (t) => {
  const { raw } = await startSite(t);
  for (const method of ['BREW', 'get', 'X-Y', 'PO']) {
    const known = await raw(`${head(`${brands}?x`, method)}\r\n`);
    assert.deepEqual(answersIn(known), ['405 METHOD_NOT_ALLOWED'], method);
    assert.match(known, /\r\nAllow: GET, HEAD, OPTIONS\r\n/);
    assert.deepEqual(answersIn(await raw(`${head('/x', method)}\r\n`)), ['404 NOT_FOUND']);
  }
  assert.deepEqual(answersIn(await raw(`${good}BREW /x HTTP/1.1\r\n\r\n`)), ['200', '404 NOT_FOUND']);
  const withBody = `${head()}Content-Length: 4\r\n\r\na\nb `;
  assert.deepEqual(answersIn(await raw(`${withBody}BREW /x HTTP/1.1\r\n\r\n`)), ['200', '404 NOT_FOUND']);
});

test('a client that sends CONNECT and hangs up leaves the service intact', async (t) => {
  const { open, call } = await startSite(t);
  for (let times = 0; times < 10; times += 1) {
    const socket = open();
    await once(socket, 'connect');
    socket.write(`${tunnel}\r\n`);
    socket.resetAndDestroy();
  }
  assert.equal((await call(shortFile)).status, 200);
});

for (const [what, bytes] of Object.entries({
  'an incomplete request': 'GET /x HT',
  CONNECT: `${tunnel}\r\n`,
})) {
  test(`a connection is closed after ${what}, though the client keeps it open`, async (t) => {
    const { open, server } = await startSite(t);
    const socket = open(bytes, true);
    const [serverSide] = await once(server, 'connection');
    const closed = once(serverSide, 'close');
    const [answer] = await once(socket, 'data');
    assert.match(String(answer), /^HTTP\/1\.1 4/);
    await closed;
  });
}

test('malformed bytes get one response and one log line, however many follow', async (t) => {
  for (const [malformed, answers] of [
    ['ZZZ\r\n\r\n', ['200']],
    ['0\r\n\r\nhello\r\n\r\n', ['200', '400 MALFORMED_REQUEST']],
  ] as const) {
    const { routes, release } = heldPage();
    const { raw, server, lines } = await startSite(t, { routes });
    let errors = 0;
    server.on('clientError', () => {
      errors += 1;
      if (errors === 3) release();
    });
    const chunked = `${head()}Transfer-Encoding: chunked\r\n\r\n`;
    assert.deepEqual(answersIn(await raw(chunked + malformed + 'x'.repeat(1_200_000))), answers);
    assert.equal(lines().filter(({ msg }) => msg === 'request').length, answers.length);
  }
});

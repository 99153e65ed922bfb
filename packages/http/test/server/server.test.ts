/** How a connection and a server end: every request is answered, and every connection closed. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { httpBounds } from '../../../common/src/bounds/http.ts';
import { answersIn, responsesIn } from '../../../testkit/fixtures/http.ts';
import { ask, brands, head, heldPage, pageAfter, startSite } from '../site.ts';

// The real one is a second.
Object.assign(httpBounds, { connectionsCheckMs: 20 });

const good = ask();

test('while draining, each response closes its connection', async (t) => {
  const { open, drain, raw } = await startSite(t);
  const early = open();
  const received = text(early);
  early.write(good);
  await once(early, 'data');
  drain();
  assert.equal(early.readyState, 'open', 'an idle connection stays open until the listener closes');
  early.write(good);
  const [first, second] = responsesIn(await received);
  assert.deepEqual([first?.headers.connection, second?.headers.connection], ['keep-alive', 'close']);
  // New connections are accepted as long as balancers have not noticed.
  const [answer] = responsesIn(await raw(good));
  assert.deepEqual([answer?.status, answer?.headers.connection], [200, 'close']);
});

test('pipelined requests are all answered, and the last response closes the connection', async (t) => {
  const { routes, asked, release } = heldPage();
  const { open, drain, raw } = await startSite(t, { routes });
  const received = text(open(good + good));
  await asked;
  drain();
  release();
  assert.deepEqual(
    responsesIn(await received).map(({ headers }) => headers.connection),
    ['keep-alive', 'close'],
  );
  assert.deepEqual(answersIn(await raw(good.repeat(3))), ['200', '200', '200']);
});

test('a request that has arrived when the listener closes is answered', async (t) => {
  const { open, server, close } = await startSite(t);
  const socket = open();
  const received = text(socket);
  const [serverSide] = await once(server, 'connection');
  // Not read yet: it stays in the buffers of the kernel until the service closes.
  serverSide.pause();
  socket.write(good);
  await new Promise((resolve) => setImmediate(resolve));
  serverSide.resume();
  await close();
  assert.deepEqual(answersIn(await received), ['200']);
});

/** The number of connections that the kernel has accepted on a port, and the process has not. */
function inAcceptQueue(port: number): number {
  const address = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const listening = readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .find(([, local = '', , state]) => local.endsWith(address) && state === '0A');
  return Number.parseInt(listening?.[4]?.split(':')[1] ?? '0', 16);
}

test('connections in the accept queue are answered when the service closes', async (t) => {
  const { open, port, server, close } = await startSite(t);
  let accepted = 0;
  server.on('connection', () => {
    accepted += 1;
  });
  const received = Array.from({ length: 10 }, () => text(open(good)));
  await new Promise<void>((resolve) => process.nextTick(resolve));
  // Without a turn of the event loop, in which the process would accept them.
  while (inAcceptQueue(port) < received.length);
  assert.equal(accepted, 0);
  await close();
  for (const answer of await Promise.all(received)) assert.deepEqual(answersIn(answer), ['200']);
});

test('requests that are not answered in time are dropped, and the log has their number', async (t) => {
  const { routes, asked } = heldPage();
  const { open, close, lines } = await startSite(t, { routes });
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const received = text(open(good));
  await asked;
  const closed = close();
  t.mock.timers.tick(24_999);
  assert.deepEqual(lines(), []);
  t.mock.timers.tick(1);
  await closed;
  await received.catch(() => {});
  const { level, requests, msg } = lines()[0];
  assert.deepEqual([level, requests, msg], [40, 1, 'requests were not answered before shutdown']);
});

test('closing completes a response that is read slowly', async (t) => {
  const page = `{"brands":[],"cursor":"${'x'.repeat(3_000_000)}"}`;
  const { open, close } = await startSite(t, { routes: { [brands]: pageAfter(() => {}, page) } });
  const socket = open(good);
  let received = String(await once(socket, 'data'));
  // Nothing more is read until the server closes: most of the response waits in its memory.
  socket.pause();
  const closed = close();
  socket.on('data', (chunk) => {
    received += chunk;
  });
  socket.resume();
  await Promise.all([once(socket, 'end'), closed]);
  assert.ok(received.endsWith(page));
});

test('closing does not wait for connections without a request', { timeout: 5_000 }, async (t) => {
  const { open, server, close } = await startSite(t);
  for (const bytes of ['', 'GET / HT', `${head()}Content-Length: 10\r\n\r\nx`]) {
    const socket = open(bytes);
    const [serverSide] = await once(server, 'connection');
    if (bytes.startsWith(head())) await once(socket, 'data');
    assert.equal(serverSide.destroyed, false);
  }
  await close();
});

test('a body that never ends is cut off at the request timeout, after its one response', async (t) => {
  const { open, server } = await startSite(t);
  // The real timeouts are 5 and 10 s.
  server.requestTimeout = server.headersTimeout = 100;
  async function send(framing: string, part: string): Promise<string[]> {
    const socket = open(`${head()}${framing}\r\n\r\n`);
    const received = text(socket);
    const sending = setInterval(() => socket.write(part), 5);
    t.after(() => clearInterval(sending));
    socket.once('end', () => clearInterval(sending));
    await once(socket, 'close');
    return answersIn(await received);
  }
  const answers = await Promise.all([
    send('Transfer-Encoding: chunked', '5\r\nhello\r\n'),
    send('Content-Length: 1000000000', 'hello'),
  ]);
  assert.deepEqual(answers, [['200'], ['200']]);
});

test('what follows a last response is dropped, up to 64 MiB and the request timeout', async (t) => {
  const { open, server } = await startSite(t);
  /** Sends a body after its response. Resolves to the bytes until the connection is closed, or to `most`. */
  async function send(part: string, most: number): Promise<number> {
    const socket = open(`${head()}Connection: close\r\nContent-Length: 1000000000\r\n\r\n`, true);
    let hasFailed = false;
    socket.on('error', () => {
      hasFailed = true;
    });
    await once(socket.resume(), 'end');
    let bytes = 0;
    for (; bytes < most && !hasFailed; bytes += part.length) {
      await new Promise((resolve) => socket.write(part, resolve));
      await nextTurn();
    }
    return bytes;
  }
  const mebibyte = 1024 * 1024;
  // The real timeouts are 5 and 10 s.
  server.requestTimeout = server.headersTimeout = 0;
  const bytes = await send('x'.repeat(mebibyte), 128 * mebibyte);
  assert.ok(bytes >= 64 * mebibyte && bytes < 128 * mebibyte, `${bytes} bytes`);
  server.requestTimeout = server.headersTimeout = 100;
  assert.ok((await send('x', mebibyte)) < mebibyte);
});

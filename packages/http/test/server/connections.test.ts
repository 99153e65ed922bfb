/** Which connection is closed when there are too many, and how many requests one connection may send. */
import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import type { Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { httpBounds } from '../../../common/src/bounds/http.ts';
import { answersIn } from '../../../testkit/fixtures/http.ts';
import { until } from '../../../testkit/fixtures/lifetime.ts';
import { watchedLog } from '../../../testkit/watch/logs.ts';
import { Connections } from '../../src/server/connections.ts';
import { ask, brands, head, heldPage, pageAfter, shortFile, startSite } from '../site.ts';

test('a client is answered while any number of connections are open without a request', async (t) => {
  const { call, disconnect, open, count, closedFor, lines } = await startSite(t, {
    connections: 50,
  });
  assert.equal((await call(shortFile)).status, 200);
  const slow = Array.from({ length: 500 }, () => open('GET / HTTP/1.1\r\nX: '));
  await Promise.all(slow.map((socket) => once(socket, 'connect')));
  await until(20_000, () => closedFor('silent') >= 450);
  assert.equal(count(), 50);
  for (let times = 0; times < 3; times += 1) {
    assert.equal((await call(shortFile)).status, 200);
    disconnect();
  }
  assert.equal(closedFor('idle') + closedFor('refused'), 0);
  const warnings = lines().filter(({ level }) => level === 40);
  assert.equal(warnings.length, 1, 'a flood of connections does not flood the log');
  assert.match(warnings[0].msg, /connections were closed/);
});

test('of connections with answered requests, the longest idle connection is closed', async (t) => {
  const { open, closedFor } = await startSite(t, { connections: 2 });
  const [older, newer] = [open(ask(shortFile)), open()];
  await once(older, 'data');
  newer.write(ask(shortFile));
  await once(newer, 'data');
  const another = open(ask(shortFile));
  await Promise.all([once(older, 'close'), once(another, 'data')]);
  assert.equal(newer.readyState, 'open');
  assert.equal(closedFor('idle'), 1);
});

test('a connection that waits for a response stays open', async (t) => {
  const { routes, asked, release } = heldPage();
  const { open, closedFor } = await startSite(t, { connections: 1, routes });
  const busy = open(ask());
  await asked;
  await once(open(ask(shortFile)), 'close');
  assert.equal(closedFor('refused'), 1);
  release();
  assert.match(String((await once(busy, 'data'))[0]), /^HTTP\/1\.1 200 /);
});

test('of connections with an unread response, also of a file, the oldest is closed', async (t) => {
  const file = Buffer.alloc(20_000_000);
  const routes = { '/assets/file': { answer: async () => file } };
  const { open, closedFor } = await startSite(t, { connections: 2, routes });
  const [older, newer] = [open(ask('/assets/file')), open()];
  await once(older, 'readable');
  newer.write(ask('/assets/file'));
  await once(newer, 'readable');
  const another = open(ask(shortFile));
  older.resume();
  await Promise.all([once(older, 'close'), once(another, 'data')]);
  assert.equal(newer.readyState, 'open');
  assert.deepEqual([closedFor('unread'), closedFor('refused')], [1, 0]);
});

test('unread responses take no more than their limit of memory: the oldest are closed', async (t) => {
  const large = 'x'.repeat(20_000_000);
  const { unreadCharacters } = httpBounds;
  Object.assign(httpBounds, { unreadCharacters: 1.5 * large.length });
  t.after(() => Object.assign(httpBounds, { unreadCharacters }));
  const { open, closedFor, logs } = await startSite(t, {
    routes: {
      '/assets/large': { answer: async () => large },
      '/assets/file': { answer: async () => Buffer.from(large) },
    },
  });
  const askFor = async (path: string) => {
    const socket = open(ask(path));
    await once(socket, 'readable');
    return socket;
  };
  // A file is in memory once for all clients, and does not count.
  await askFor('/assets/file');
  await askFor('/assets/file');
  const first = await askFor('/assets/large');
  assert.equal(closedFor('unread'), 0);
  const second = await askFor('/assets/large');
  await until(20_000, () => closedFor('unread') === 1);
  first.resume();
  await once(first, 'close');
  assert.equal(second.readyState, 'open');
  // A response that was read no longer counts.
  let readBytes = 0;
  second.on('data', (chunk) => {
    readBytes += chunk.length;
  });
  await until(20_000, () => readBytes > large.length);
  await askFor('/assets/large');
  assert.equal(closedFor('unread'), 1);
  assert.match(logs(), /"unread":1/);
});

test('pipelined requests of all connections together have a limit', async (t) => {
  const { routes, release } = heldPage();
  const { call, open, closedFor } = await startSite(t, { routes });
  const batch = ask().repeat(httpBounds.pipelinedRequests);
  const senders = Math.ceil(httpBounds.requestsAhead / (httpBounds.pipelinedRequests - 1));
  const sockets = Array.from({ length: senders }, () => open(batch));
  await Promise.race(sockets.map((socket) => once(socket, 'close')));
  assert.equal(closedFor('ahead'), 1);
  // A client that waits for each response is not affected.
  assert.equal((await call(shortFile)).status, 200);
  release();
  const later = open(batch);
  let received = '';
  later.on('data', (chunk) => {
    received += chunk;
  });
  await until(20_000, () => received.split('"brands"').length > httpBounds.pipelinedRequests);
  assert.equal(closedFor('ahead'), 1);
});

test('a client that pipelines requests and never reads the responses is cut off', async (t) => {
  const { open, server, call } = await startSite(t);
  const socket = open();
  socket.pause();
  const [serverSide] = await once(server, 'connection');
  socket.write(ask().repeat(500));
  await once(serverSide, 'close');
  assert.equal((await call(brands)).status, 200);
});

test('100 pipelined requests are answered in order', async (t) => {
  let asked = 0;
  const route = pageAfter(({ headers }) => {
    asked += 1;
    headers.push('Content-Language', String(asked));
  });
  const { open } = await startSite(t, { routes: { [brands]: route } });
  const received = await text(open(`${ask().repeat(99)}${head()}Connection: close\r\n\r\n`));
  const order = Array.from(received.matchAll(/Content-Language: (\d+)/g), ([, number]) => Number(number));
  assert.deepEqual(
    order,
    Array.from({ length: 100 }, (_, index) => index + 1),
  );
});

test('the response to the 1,000th request closes the connection; later requests are ignored', async (t) => {
  const { open, raw, logs } = await startSite(t);
  const short = `${head(shortFile, 'HEAD')}\r\n`;
  const socket = open();
  let received = '';
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    received += chunk;
  });
  const answers = () => received.split('HTTP/1.1 200 OK').length - 1;
  // Pipelined, but not more at a time than is allowed.
  for (let sent = 0; sent < 950; sent += 50) {
    socket.write(short.repeat(50));
    while (answers() < sent + 50) await once(socket, 'data');
  }
  assert.doesNotMatch(received, /Connection: close/);
  socket.write(short.repeat(60));
  await once(socket, 'close');
  assert.equal(answers(), 1_000);
  assert.equal(logs().match(/"msg":"request"/g)?.length, 1_000);
  assert.equal(received.match(/Connection: close/g)?.length, 1);
  assert.match(received.slice(received.lastIndexOf('HTTP/1.1')), /Connection: close/);
  assert.deepEqual(answersIn(await raw(`${head()}Connection: close\r\n\r\n`)), ['200']);
});

test('a connection that cannot be accepted does not end the process', async (t) => {
  const { server, call, logs } = await startSite(t);
  server.emit('error', new Error('accept ENOBUFS'));
  assert.match(logs(), /accept ENOBUFS.*a connection cannot be accepted/);
  assert.equal((await call(shortFile)).status, 200);
});

test('a response that is counted after its end counts until the next response on its connection ends', () => {
  const server = new EventEmitter() as unknown as ConstructorParameters<typeof Connections>[0];
  const most = httpBounds.unreadCharacters;
  const connections = new Connections(server, 10, watchedLog().log);
  const connected = () => {
    const socket = Object.assign(new EventEmitter(), {
      writableLength: 1,
      destroyed: false,
      destroy: () => {},
    }) as unknown as Socket;
    server.emit('connection', socket);
    return { socket, connection: connections.of(socket)! };
  };
  const { socket, connection } = connected();
  connections.startRequest(socket, connection);
  connections.endRequest(socket, connection);
  connections.startRequest(socket, connection);
  connections.keepUnread(socket, 0.9 * most);
  connections.keepUnread(socket, 0.9 * most);
  connections.endRequest(socket, connection);

  const readers = [connected(), connected()];
  for (const reader of readers) {
    connections.startRequest(reader.socket, reader.connection);
    connections.keepUnread(reader.socket, 0.45 * most);
  }
  assert.ok(readers.every((reader) => connections.of(reader.socket) === reader.connection));
});

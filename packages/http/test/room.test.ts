/** Which connection is closed when there are too many. */
import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { httpBounds } from '../../common/src/bounds/http.ts';
import { connectionsWithin, openFileLimit, operatorsWithin } from '../../common/src/process.ts';
import { createCaller } from '../../testkit/fixtures/http.ts';
import { until } from '../../testkit/fixtures/until.ts';
import { wholeRoom } from '../../testkit/service/service.ts';
import { watchedLog } from '../../testkit/watch/logs.ts';
import type { Exchange } from '../src/handle.ts';
import { Connections, type Room } from '../src/server/connections.ts';
import { createHttpServer, listen, serveSite } from '../src/server/server.ts';

/** A server of files only: these promises do not depend on what is served. */
async function serve(
  t: TestContext,
  room: Partial<Room>,
  answers: Record<string, (exchange: Exchange) => Promise<string | Buffer>> = {},
) {
  const { log, logs, lines } = watchedLog();
  const server = createHttpServer();
  const all = Object.entries({ '/assets/short': async () => 'x', ...answers });
  const routes = new Map(all.map(([path, answer]) => [path, { answer }]));
  const { close, metrics } = serveSite(server, { routes, log }, { room: { ...wholeRoom, ...room } });
  const port = await listen(server, '127.0.0.1', 0, '--port');
  const sockets: Socket[] = [];
  t.after(async () => {
    for (const socket of sockets) socket.destroy();
    await close();
  });
  const open = (sent = '') => {
    const socket = connect(port, '127.0.0.1');
    sockets.push(socket.on('error', () => {}));
    if (sent !== '') socket.write(sent);
    return socket;
  };
  const closedFor = (reason: string) =>
    metrics[2]!.read().find(({ labels }) => labels.reason === reason)!.value;
  return { port, server, open, count: () => metrics[0]!.read()[0]!.value, closedFor, logs, lines };
}

const ask = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;

test('a client is answered while any number of connections are open without a request', async (t) => {
  const { port, open, count, closedFor, lines } = await serve(t, { connections: 50 });
  const caller = createCaller(port);
  t.after(() => caller.disconnect());
  assert.equal((await caller.call('/assets/short')).status, 200);
  const slow = Array.from({ length: 500 }, () => open('GET / HTTP/1.1\r\nX: '));
  await Promise.all(slow.map((socket) => once(socket, 'connect')));
  await until(20_000, () => closedFor('silent') >= 450);
  assert.equal(count(), 50);
  for (let times = 0; times < 3; times += 1) {
    assert.equal((await caller.call('/assets/short')).status, 200);
    caller.disconnect();
  }
  assert.equal(closedFor('idle') + closedFor('refused'), 0);
  const warnings = lines().filter(({ level }) => level === 40);
  assert.equal(warnings.length, 1, 'a flood of connections does not flood the log');
  assert.match(warnings[0].msg, /connections were closed/);
});

test('of connections with answered requests, the longest idle connection is closed', async (t) => {
  const { open, closedFor } = await serve(t, { connections: 2 });
  const [older, newer] = [open(ask('/assets/short')), open()];
  await once(older, 'data');
  newer.write(ask('/assets/short'));
  await once(newer, 'data');
  const another = open(ask('/assets/short'));
  await Promise.all([once(older, 'close'), once(another, 'data')]);
  assert.equal(newer.readyState, 'open');
  assert.equal(closedFor('idle'), 1);
});

test('a connection that waits for a response stays open', async (t) => {
  const held = Promise.withResolvers<string>();
  const asked = Promise.withResolvers<void>();
  const route = () => {
    asked.resolve();
    return held.promise;
  };
  const { open, closedFor } = await serve(t, { connections: 1 }, { '/assets/held': route });
  const busy = open(ask('/assets/held'));
  await asked.promise;
  await once(open(ask('/assets/short')), 'close');
  assert.equal(closedFor('refused'), 1);
  held.resolve('here');
  assert.match(String((await once(busy, 'data'))[0]), /here$/);
});

test('of connections with an unread response, also of a file, the oldest is closed', async (t) => {
  const file = Buffer.alloc(20_000_000);
  const { open, closedFor } = await serve(t, { connections: 2 }, { '/assets/file': async () => file });
  const [older, newer] = [open(ask('/assets/file')), open()];
  await once(older, 'readable');
  newer.write(ask('/assets/file'));
  await once(newer, 'readable');
  const another = open(ask('/assets/short'));
  older.resume();
  await Promise.all([once(older, 'close'), once(another, 'data')]);
  assert.equal(newer.readyState, 'open');
  assert.deepEqual([closedFor('unread'), closedFor('refused')], [1, 0]);
});

test('unread responses take no more than their limit of memory: the oldest are closed', async (t) => {
  const large = 'x'.repeat(20_000_000);
  const { open, closedFor, logs } = await serve(
    t,
    { unreadCharacters: 1.5 * large.length },
    { '/assets/large': async () => large, '/assets/file': async () => Buffer.from(large) },
  );
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
  const held = Promise.withResolvers<string>();
  const { port, open, closedFor } = await serve(t, {}, { '/assets/held': () => held.promise });
  const batch = ask('/assets/held').repeat(httpBounds.pipelinedRequests);
  const senders = Math.ceil(httpBounds.requestsAhead / (httpBounds.pipelinedRequests - 1));
  const sockets = Array.from({ length: senders }, () => open(batch));
  await Promise.race(sockets.map((socket) => once(socket, 'close')));
  assert.equal(closedFor('ahead'), 1);
  // A client that waits for each response is not affected.
  assert.equal((await fetch(`http://127.0.0.1:${port}/assets/short`)).status, 200);
  held.resolve('here');
  const later = open(batch);
  let received = '';
  later.on('data', (chunk) => {
    received += chunk;
  });
  await until(20_000, () => received.split('here').length > httpBounds.pipelinedRequests);
  assert.equal(closedFor('ahead'), 1);
});

test('a connection that cannot be accepted does not end the process', async (t) => {
  const { port, server, logs } = await serve(t, {});
  server.emit('error', new Error('accept ENOBUFS'));
  assert.match(logs(), /accept ENOBUFS.*a connection cannot be accepted/);
  assert.equal((await fetch(`http://127.0.0.1:${port}/assets/short`)).status, 200);
});

test('fewer connections are allowed where fewer files may be open', () => {
  assert.equal(connectionsWithin(1_024), 768);
  assert.equal(connectionsWithin(1_048_576), httpBounds.connections);
  assert.equal(connectionsWithin(undefined), httpBounds.connections);
  assert.equal(operatorsWithin(1_024), 51);
  assert.equal(operatorsWithin(1_048_576), httpBounds.operationsConnections);
  assert.equal(operatorsWithin(undefined), httpBounds.operationsConnections);
});

test('on Linux, the limit of open files is what Node reports', () => {
  const { userLimits } = process.report.getReport() as { userLimits?: { open_files: { soft: unknown } } };
  const reported = userLimits?.open_files.soft;
  const isKnown = process.platform === 'linux' && typeof reported === 'number';
  assert.equal(openFileLimit(), isKnown ? reported : undefined);
});

test('a response that is counted after its end counts until the next response on its connection ends', () => {
  const server = new EventEmitter() as unknown as ConstructorParameters<typeof Connections>[0];
  const room = { connections: 10, unreadCharacters: 1_000 };
  const connections = new Connections(server, room, watchedLog().log);
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
  connections.keepUnread(socket, 900);
  connections.keepUnread(socket, 900);
  connections.endRequest(socket, connection);

  const readers = [connected(), connected()];
  for (const reader of readers) {
    connections.startRequest(reader.socket, reader.connection);
    connections.keepUnread(reader.socket, 450);
  }
  assert.ok(readers.every((reader) => connections.of(reader.socket) === reader.connection));
});

/** How a service ends: every request is answered, and every connection closed. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { importValues } from '../../operator/src/ingest/import.ts';
import type { BrandsQuery } from '../../store/src/port.ts';
import { keys } from '../../testkit/fixtures/fixture.ts';
import { answersIn, responsesIn } from '../../testkit/fixtures/http.ts';
import { startTestService, type TestService } from '../../testkit/service/service.ts';

const head = `GET /network/v1/brands HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${keys.acme}\r\n`;
const good = `${head}\r\n`;

function open(t: TestContext, port: number): Socket {
  const socket = connect(port, '127.0.0.1');
  t.after(() => socket.destroy());
  return socket;
}

/** A service whose pages wait until `letGo`. */
async function startHeld(t: TestContext): Promise<TestService & { asked(): Promise<void>; letGo(): void }> {
  const held = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  const service = await startTestService(t, {
    reads: async ({ store }) => ({
      ...store,
      listBrands: async (query: BrandsQuery) => {
        asked.resolve();
        await held.promise;
        return store.listBrands(query);
      },
    }),
  });
  return { ...service, asked: () => asked.promise, letGo: held.resolve };
}

test('while draining, each response closes its connection', async (t) => {
  const { port, drain, raw } = await startTestService(t);
  const early = open(t, port);
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
  const { port, drain, asked, letGo, raw } = await startHeld(t);
  const socket = open(t, port);
  const received = text(socket);
  socket.write(good + good);
  await asked();
  drain();
  letGo();
  assert.deepEqual(
    responsesIn(await received).map(({ headers }) => headers.connection),
    ['keep-alive', 'close'],
  );
  assert.deepEqual(answersIn(await raw(good.repeat(3))), ['200', '200', '200']);
});

test('a request that has arrived when the listener closes is answered', async (t) => {
  const { port, server, close } = await startTestService(t);
  const socket = open(t, port);
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
  const { port, server, close } = await startTestService(t);
  let accepted = 0;
  server.on('connection', () => {
    accepted += 1;
  });
  const received = Array.from({ length: 10 }, () => {
    const socket = open(t, port);
    socket.write(good);
    return text(socket);
  });
  await new Promise<void>((resolve) => process.nextTick(resolve));
  // Without a turn of the event loop, in which the process would accept them.
  while (inAcceptQueue(port) < received.length);
  assert.equal(accepted, 0);
  await close();
  for (const answer of await Promise.all(received)) assert.deepEqual(answersIn(answer), ['200']);
});

test('requests that are not answered in time are dropped, and the log has their number', async (t) => {
  const { port, close, asked, lines } = await startHeld(t);
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const socket = open(t, port);
  const received = text(socket);
  socket.write(good);
  await asked();
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
  const { port, store, close } = await startTestService(t);
  const metadata = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [index, 'x'.repeat(600)]));
  const brand = { name: 'n', reference_id: 'l', metadata };
  const large = Array.from({ length: 97 }, (_, id) => ({ ...brand, id: `l${id}` }));
  await importValues(store, 'brands', large, 'acme');

  const socket = open(t, port);
  socket.write(good.replace('/brands', '/brands?limit=100'));
  let received = Buffer.concat(await once(socket, 'data'));
  // Nothing more is read until the service closes: most of the response waits in its memory.
  socket.pause();
  const closed = close();
  socket.on('data', (chunk) => {
    received = Buffer.concat([received, chunk]);
  });
  socket.resume();
  await Promise.all([once(socket, 'end'), closed]);
  const [answer] = responsesIn(received.toString());
  assert.equal(JSON.parse(answer!.text).brands.length, 100);
});

test('closing does not wait for connections without a request', { timeout: 5_000 }, async (t) => {
  const { port, server, close } = await startTestService(t);
  for (const bytes of ['', 'GET / HT', `${head}Content-Length: 10\r\n\r\nx`]) {
    const socket = open(t, port).on('error', () => {});
    const [serverSide] = await once(server, 'connection');
    if (bytes !== '') socket.write(bytes);
    if (bytes.startsWith(head)) await once(socket, 'data');
    assert.equal(serverSide.destroyed, false);
  }
  await close();
});

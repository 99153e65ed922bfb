/** Responses that break off, seen from the socket, and what becomes of their connections. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { type TestContext, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import type { BrandsQuery } from '../../../store/src/port.ts';
import { keys } from '../../../testkit/fixtures/fixture.ts';
import { until } from '../../../testkit/fixtures/lifetime.ts';
import { startTestService, type TestService } from '../../../testkit/service/service.ts';
import { brands, notKept, verdictOf } from './client.ts';

/** Writes a request to a socket of its own. */
function send(t: TestContext, { port }: TestService, run: string, count = 1, path = brands) {
  const line = `GET /rehearsals/${run}${path} HTTP/1.1\r\nHost: a`;
  const head = `${line}\r\nAuthorization: Bearer ${keys.acme}\r\n\r\n`;
  const socket = connect(port, '127.0.0.1', () => socket.write(head.repeat(count)));
  t.after(() => socket.destroy());
  const sent = { socket, received: '', closed: once(socket, 'close'), isClosed: () => socket.destroyed };
  socket
    .on('error', () => {})
    .on('data', (chunk) => {
      sent.received += chunk;
    });
  return sent;
}

const startRun = async (service: TestService, run: string) =>
  assert.equal((await service.call(`/rehearsals/${run}${brands}`, { key: keys.acme })).status, 200);

test('torn: the connection closes in the middle of the body', async (t) => {
  const service = await startTestService(t, { rehearsals: {} });
  await startRun(service, 'torn');
  const torn = send(t, service, 'torn');
  await torn.closed;
  const [head, body] = torn.received.split('\r\n\r\n') as [string, string];
  assert.match(head, /^HTTP\/1\.1 200 OK/);
  const length = Number(/Content-Length: (\d+)/.exec(head)?.[1]);
  assert.equal(Buffer.byteLength(body), Math.floor(length / 2));
  assert.equal((await verdictOf(service, 'torn')).requests[1]?.status, 200);
});

test('stalled: headers only, and the connection closes later than the server would close it', async (t) => {
  const service = await startTestService(t, { rehearsals: { stallMs: 400 } });
  service.server.timeout = 100;
  await startRun(service, 'stalled');
  const startedMs = performance.now();
  const stalled = send(t, service, 'stalled');
  await stalled.closed;
  assert.ok(performance.now() - startedMs >= 399);
  assert.match(stalled.received, /^HTTP\/1\.1 200 OK\r\n.*Content-Length: [1-9].*\r\n\r\n$/s);
  const verdict = await verdictOf(service, 'stalled');
  assert.deepEqual(notKept(verdict), { 'reached-the-last-page': 'pending', resumed: 'broken' });
});

test('stalled: the client that hangs up has not broken a promise', async (t) => {
  const service = await startTestService(t, { rehearsals: { stallMs: 1_000 } });
  await startRun(service, 'stalled');
  const stalled = send(t, service, 'stalled');
  await until(20_000, () => stalled.received !== '');
  stalled.socket.destroy();
  // Until the sandbox would have closed the connection.
  await wait(1_000);
  const pending = { 'reached-the-last-page': 'pending', resumed: 'pending' };
  assert.deepEqual(notKept(await verdictOf(service, 'stalled')), pending);
});

test('a stop closes stalled connections at once', async (t) => {
  const service = await startTestService(t, { rehearsals: {} });
  await startRun(service, 'stalled');
  const stalled = send(t, service, 'stalled');
  await until(20_000, () => stalled.received !== '');
  const startedMs = performance.now();
  await service.close();
  await stalled.closed;
  assert.ok(performance.now() - startedMs < 5_000, 'a stop waits 25 s for responses');
});

test('pipelined requests are answered in order, until a response breaks off', async (t) => {
  const service = await startTestService(t, { rehearsals: {} });
  const sent = send(t, service, 'torn.pipelined', 4);
  await sent.closed;
  assert.equal(sent.received.match(/HTTP\/1\.1 200 OK/g)?.length, 2);
  assert.equal((await verdictOf(service, 'torn.pipelined')).requests.length, 2);
});

for (const run of ['steady', 'stalled', 'torn']) {
  test(`${run}: a client that hangs up while its page is made has not got it`, async (t) => {
    const held = Promise.withResolvers<void>();
    const asked = Promise.withResolvers<void>();
    const reads = async ({ store }: TestService['database']) => ({
      ...store,
      listBrands: async (query: BrandsQuery) => {
        // The whole list, in which the first page is the last.
        if (query.limit > 1) {
          asked.resolve();
          await held.promise;
        }
        return store.listBrands(query);
      },
    });
    const service = await startTestService(t, { rehearsals: {}, reads });
    await startRun(service, run);
    const before = await connectionsOf(service);
    const gone = send(t, service, run, 1, '/network/v1/brands');
    await asked.promise;
    gone.socket.destroy();
    await until(20_000, async () => (await connectionsOf(service)) === before);
    held.resolve();
    await until(20_000, async () => (await verdictOf(service, run)).requests.length === 2);
    const { promises } = await verdictOf(service, run);
    assert.equal(promises[0]?.verdict, 'pending');
    assert.ok(promises.every(({ verdict }) => verdict !== 'broken'));
  });
}

function connectionsOf({ server }: TestService): Promise<number> {
  return new Promise((resolve, reject) =>
    server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
  );
}

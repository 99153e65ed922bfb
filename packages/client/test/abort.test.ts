import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import type { Socket } from 'node:net';
import { test } from 'node:test';
import { serveRaw } from '../../operator/test/images/image-host.ts';
import { until } from '../../testkit/fixtures/lifetime.ts';
import type { PartnerNetwork } from '../src/index.ts';
import { connectTo } from './support/network.ts';
import { offline } from './support/offline.ts';
import { rejectionOf } from './support/rejection.ts';

const reason = new Error('The user went away.');

/** Aborts a call when `isWaiting`, and checks that it rejects at once with the signal's reason. */
async function endsAtOnce(
  call: (signal: AbortSignal) => PromiseLike<unknown>,
  isWaiting: () => boolean,
): Promise<void> {
  const controller = new AbortController();
  const rejection = rejectionOf(call(controller.signal));
  await until(20_000, isWaiting);
  const startedMs = performance.now();
  controller.abort(reason);
  assert.equal(await rejection, reason);
  assert.ok(performance.now() - startedMs < 3_000);
  assert.equal(getEventListeners(controller.signal, 'abort').length, 0);
}

/** The number of active timers. */
function timers(): number {
  return process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
}

const list = (network: PartnerNetwork) => (signal: AbortSignal) => network.brands.list({}, { signal });

test('an abort ends a call at once while it waits for a retry, for the rate or for any fetch', async (t) => {
  const before = timers();
  const busy = { status: 503, headers: { 'retry-after': '50' } };
  const fetch = t.mock.fn(async () => new Response('', busy));
  await endsAtOnce(list(offline({ fetch })), () => fetch.mock.callCount() === 1 && timers() > before);
  assert.deepEqual([fetch.mock.callCount(), timers()], [1, before]);

  const paced = offline({ maxRate: 1 });
  await paced.brands.list();
  await endsAtOnce(list(paced), () => timers() > before);
  assert.equal(timers(), before, 'no call waits, so no timer keeps the process alive');

  const deaf = t.mock.fn(() => new Promise<Response>(() => {}));
  await endsAtOnce(list(offline({ fetch: deaf })), () => deaf.mock.callCount() === 1);
});

test('nothing is sent if the signal is already aborted', async () => {
  const sent: string[] = [];
  const network = offline({ onRequest: ({ url }) => void sent.push(url) });
  const { brands } = network;
  const signal = AbortSignal.abort(reason);
  assert.equal(await rejectionOf(brands.list({}, { signal })), reason);
  assert.equal(await rejectionOf(brands.list({}, { signal }).pages()[Symbol.asyncIterator]().next()), reason);
  assert.deepEqual(sent, []);
});

test('an abort between two pages ends the walk', async (t) => {
  const fetch = t.mock.fn(async () => Response.json({ brands: [{ id: 'one' }], cursor: 'next' }));
  const controller = new AbortController();
  async function walk(): Promise<void> {
    for await (const _ of list(offline({ fetch }))(controller.signal)) controller.abort(reason);
  }
  assert.equal(await rejectionOf(walk()), reason);
  assert.equal(fetch.mock.callCount(), 1);
});

test('a hundred calls share one listener on their signal, and leave neither it nor a timer', async () => {
  const before = timers();
  const controller = new AbortController();
  const { signal } = controller;
  for (let call = 0; call < 100; call += 1) await list(offline())(signal);
  assert.deepEqual([getEventListeners(signal, 'abort').length, timers()], [0, before]);

  const network = offline({ fetch: () => new Promise(() => {}) });
  const other = new AbortController();
  const calls = Array.from({ length: 100 }, () => rejectionOf(list(network)(signal)));
  const apart = rejectionOf(list(network)(other.signal));
  await new Promise(setImmediate);
  assert.equal(getEventListeners(signal, 'abort').length, 1);
  controller.abort(reason);
  assert.deepEqual(await Promise.all(calls), Array(100).fill(reason));
  assert.equal(getEventListeners(signal, 'abort').length, 0);
  other.abort('another reason');
  assert.equal(await apart, 'another reason');
});

for (const [where, sent] of [
  ['before the answer', ''],
  ['in the body', 'HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{'],
] as const) {
  test(`an abort and a timeout close the connection of a call that waits ${where}`, async (t) => {
    const open = new Set<Socket>();
    const address = await serveRaw(t, (socket) => {
      open.add(socket);
      socket.on('data', () => socket.write(sent)).on('close', () => open.delete(socket));
    });
    const network = connectTo(`${address}/network/v1`);
    await endsAtOnce(list(network), () => open.size === 1);
    await until(20_000, () => open.size === 0);
    await rejectionOf(network.brands.list({}, { timeoutMs: 20, maxRetries: 0 }));
    await until(20_000, () => open.size === 0);
  });
}

test('an abort ends the pause before a walk starts again', async () => {
  const invalid = { category: 'INVALID_REQUEST_ERROR', code: 'INVALID_CURSOR' };
  const answers = [{ brands: [{ id: 'a' }], cursor: 'one' }, { errors: [invalid] }];
  const fetch = async () => {
    const answer = answers.shift()!;
    return Response.json(answer, { status: 'errors' in answer ? 400 : 200 });
  };
  const network = offline({ fetch });
  await endsAtOnce(
    (signal) => network.brands.list({}, { signal }).then((page) => page.next()),
    () => answers.length === 0,
  );
});

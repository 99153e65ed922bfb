import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import { until } from '../../testkit/fixtures/until.ts';
import { startFaultyNetwork } from './support/network.ts';
import { offline } from './support/offline.ts';
import { rejectionOf } from './support/rejection.ts';

const reason = new Error('The user went away.');

/** Aborts a call once `isThere`, and checks that it rejects at once with the signal's reason. */
async function endsAtOnce(
  call: (signal: AbortSignal) => PromiseLike<unknown>,
  isThere: () => boolean,
): Promise<void> {
  const controller = new AbortController();
  const rejection = rejectionOf(call(controller.signal));
  await until(5_000, isThere);
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

test('an abort ends a call at once while it waits for a retry', async (t) => {
  const before = timers();
  const busy = { status: 503, headers: { 'retry-after': '50' } };
  const fetch = t.mock.fn(async () => new Response('', busy));
  const network = offline({ fetch });
  await endsAtOnce(
    (signal) => network.brands.list({}, { signal }),
    () => fetch.mock.callCount() === 1 && timers() > before,
  );
  assert.deepEqual([fetch.mock.callCount(), timers()], [1, before]);
});

test('an abort ends a call at once while it waits for the rate', async () => {
  const before = timers();
  const network = offline({ maxRate: 1 });
  await network.brands.list();
  await endsAtOnce(
    (signal) => network.brands.list({}, { signal }),
    () => timers() > before,
  );
  assert.equal(timers(), before, 'nobody waits, so no timer keeps the process');
});

test('an abort ends a call at once if fetch ignores its signal', async (t) => {
  const fetch = t.mock.fn(() => new Promise<Response>(() => {}));
  const network = offline({ fetch });
  await endsAtOnce(
    (signal) => network.brands.list({}, { signal }),
    () => fetch.mock.callCount() === 1,
  );
});

test('nothing is sent if the signal is already aborted', async () => {
  const sent: string[] = [];
  const network = offline({ onRequest: ({ url }) => void sent.push(url) });
  const signal = AbortSignal.abort(reason);
  assert.equal(await rejectionOf(network.brands.list({}, { signal })), reason);
  assert.equal(
    await rejectionOf(network.brands.list({}, { signal }).pages()[Symbol.asyncIterator]().next()),
    reason,
  );
  assert.deepEqual(sent, []);
});

test('an abort between two pages ends the walk', async () => {
  let page = 0;
  const network = offline({
    fetch: async () => {
      page += 1;
      return Response.json({ brands: [{ id: 'one' }], cursor: String(page) });
    },
  });
  const controller = new AbortController();
  async function walk(): Promise<void> {
    for await (const _ of network.brands.list({}, { signal: controller.signal })) controller.abort(reason);
  }
  assert.equal(await rejectionOf(walk()), reason);
  assert.equal(page, 1);
});

test('a thousand calls leave no listener on their signal, and no timer', async () => {
  const before = timers();
  const network = offline();
  const { signal } = new AbortController();
  for (let call = 0; call < 1_000; call += 1) await network.brands.list({}, { signal });
  assert.deepEqual([getEventListeners(signal, 'abort').length, timers()], [0, before]);
});

test('a hundred calls share one listener on their signal, and all end by it', async () => {
  const network = offline({ fetch: () => new Promise(() => {}) });
  const controller = new AbortController();
  const { signal } = controller;
  const other = new AbortController();
  const list = () => network.brands.list({}, { signal });
  const calls = Array.from({ length: 100 }, () => rejectionOf(list()));
  const apart = rejectionOf(network.brands.list({}, { signal: other.signal }));
  await new Promise(setImmediate);
  assert.equal(getEventListeners(signal, 'abort').length, 1);
  controller.abort(reason);
  assert.deepEqual(await Promise.all(calls), Array(100).fill(reason));
  assert.equal(getEventListeners(signal, 'abort').length, 0);
  other.abort('another reason');
  assert.equal(await apart, 'another reason');
});

test('a timeout ends a fetch that ignores its signal, and a late answer is dropped', async () => {
  const { promise: late, resolve } = Promise.withResolvers<Response>();
  const network = offline({ fetch: () => late, timeoutMs: 10, maxRetries: 0 });
  const error = await rejectionOf(network.brands.list());
  assert.match(String(error), /^TimeoutError: .* did not answer in full within 10 ms\.$/);
  resolve(Response.json({ brands: [] }));
  await new Promise(setImmediate);
});

test('an abort ends a call at once in the middle of an answer', async (t) => {
  let isAnswered = false;
  const onResponse = () => {
    isAnswered = true;
  };
  const { network, way } = await startFaultyNetwork(t, ['silence in the body'], { onResponse });
  await endsAtOnce(
    (signal) => network.brands.list({}, { signal }),
    () => isAnswered,
  );
  await until(5_000, () => way.open() === 0);
});

test('an abort ends a call that gets no answer, and closes the connection', async (t) => {
  const { network, way } = await startFaultyNetwork(t, ['silence']);
  const controller = new AbortController();
  const rejection = rejectionOf(network.brands.list({}, { signal: controller.signal }));
  await until(5_000, () => way.targets.length === 1);
  controller.abort();
  const error = await rejection;
  assert.ok(error instanceof DOMException && error.name === 'AbortError', "the platform's own reason");
  await until(5_000, () => way.open() === 0);
});

test('a timeout closes the connection', async (t) => {
  const { network, way } = await startFaultyNetwork(t, ['silence']);
  await rejectionOf(network.brands.list({}, { timeoutMs: 20, maxRetries: 0 }));
  await until(5_000, () => way.open() === 0);
});

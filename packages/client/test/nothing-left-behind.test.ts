import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import { endsAtOnce, reason } from './support/abort.ts';
import { offline } from './support/offline.ts';
import { rejectionOf } from './support/rejection.ts';

/** Waits that a timer is set for. */
function timers(): number {
  return process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
}

test('an abort ends a call at once while it waits to try again', async () => {
  const before = timers();
  let attempts = 0;
  const network = offline({
    fetch: async () => {
      attempts += 1;
      return new Response('', { status: 503, headers: { 'retry-after': '50' } });
    },
  });
  await endsAtOnce(
    (signal) => network.brands.list({}, { signal }),
    () => attempts === 1 && timers() > before,
  );
  assert.deepEqual([attempts, timers()], [1, before]);
});

test('an abort ends a call at once while it waits for its turn', async () => {
  const before = timers();
  const network = offline({ maxRate: 1 });
  await network.brands.list();
  await endsAtOnce(
    (signal) => network.brands.list({}, { signal }),
    () => timers() > before,
  );
  assert.equal(timers(), before, 'nobody waits, so no timer keeps the process');
});

test('an abort ends a call at once when fetch does not listen', async () => {
  let isSent = false;
  const network = offline({
    fetch: () => {
      isSent = true;
      return new Promise(() => {});
    },
  });
  await endsAtOnce(
    (signal) => network.brands.list({}, { signal }),
    () => isSent,
  );
});

test('nothing is sent under a signal that is aborted already', async () => {
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

test('a hundred calls at once have one listener on a signal that they share, and all end by it', async () => {
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

test('a time-out covers a fetch that does not listen, and a late answer is let go', async () => {
  const { promise: late, resolve } = Promise.withResolvers<Response>();
  const network = offline({ fetch: () => late, timeoutMs: 10, maxRetries: 0 });
  const error = await rejectionOf(network.brands.list());
  assert.match(String(error), /^TimeoutError: .* did not answer in full within 10 ms\.$/);
  resolve(Response.json({ brands: [] }));
  await new Promise(setImmediate);
});

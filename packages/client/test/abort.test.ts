import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import { until } from '../../testkit/fixtures/until.ts';
import type { PartnerNetwork } from '../src/index.ts';
import { startFaultyNetwork } from './support/network.ts';
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

test('an abort ends a call at once while it waits for a retry, for the rate or for any fetch', async (t) => {
  const before = timers();
  const busy = { status: 503, headers: { 'retry-after': '50' } };
  const fetch = t.mock.fn(async () => new Response('', busy));
  const list = (network: PartnerNetwork) => (signal: AbortSignal) => network.brands.list({}, { signal });
  await endsAtOnce(list(offline({ fetch })), () => fetch.mock.callCount() === 1 && timers() > before);
  assert.deepEqual([fetch.mock.callCount(), timers()], [1, before]);

  const paced = offline({ maxRate: 1 });
  await paced.brands.list();
  await endsAtOnce(list(paced), () => timers() > before);
  assert.equal(timers(), before, 'no call waits, so no timer keeps the process alive');

  const deaf = t.mock.fn(() => new Promise<Response>(() => {}));
  await endsAtOnce(list(offline({ fetch: deaf })), () => deaf.mock.callCount() === 1);
});

test('an abort without a reason rejects with an AbortError', async () => {
  const controller = new AbortController();
  const network = offline({ fetch: () => new Promise(() => {}) });
  const rejection = rejectionOf(network.brands.list({}, { signal: controller.signal }), DOMException);
  controller.abort();
  assert.equal((await rejection).name, 'AbortError');
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

test('a hundred calls share one listener on their signal, and an abort ends all of them', async () => {
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
  assert.match(String(error), /^TimeoutError: .* did not send a complete response within 10 ms\.$/);
  resolve(Response.json({ brands: [] }));
  await new Promise(setImmediate);
});

for (const fault of ['silence', 'silence in the body'] as const) {
  test(`an abort and a timeout end a call during ${fault}, and close the connection`, async (t) => {
    let answers = 0;
    const onResponse = () => {
      answers += 1;
    };
    const { network, proxy } = await startFaultyNetwork(t, [fault, fault], { onResponse });
    await endsAtOnce(
      (signal) => network.brands.list({}, { signal }),
      () => (fault === 'silence' ? proxy.targets.length === 1 : answers === 1),
    );
    await until(20_000, () => proxy.open() === 0);
    await rejectionOf(network.brands.list({}, { timeoutMs: 20, maxRetries: 0 }));
    await until(20_000, () => proxy.open() === 0);
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

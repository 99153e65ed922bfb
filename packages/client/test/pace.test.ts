import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { brandsPerSecond } from '@partner-network/contract/limits';
import { createMemoryLimiter } from '../../service/src/limiter/rate-limit.ts';
import { createPace } from '../src/pace.ts';
import { connectTo, startNetwork } from './support/network.ts';
import { rejectionOf } from './support/rejection.ts';

test('130 calls at once cause no 429, however long each takes', async (t) => {
  const limiters = { brands: createMemoryLimiter(brandsPerSecond) };
  const { connect } = await startNetwork(t, { limiters });
  const statuses: number[] = [];
  let sent = 0;
  const network = connect({
    maxRetries: 0,
    // The first requests take long to arrive, and count from then on.
    fetch: async (url, init) => {
      sent += 1;
      if (sent <= brandsPerSecond) await wait(300);
      return fetch(url, init);
    },
    onResponse: ({ status }) => void statuses.push(status),
  });
  const calls = Array.from({ length: 130 }, () => network.brands.list({ limit: 1 }, { timeoutMs: 60_000 }));
  await Promise.allSettled(calls);
  // A busy machine may shed a request with 503.
  assert.equal(statuses.length, 130);
  assert.deepEqual(new Set(statuses).difference(new Set([503])), new Set([200]));
});

/** A pace on a clock that the test moves. */
function paceOf(t: TestContext, rate: number) {
  const clock = { ms: 0 };
  t.mock.timers.enable({ apis: ['setTimeout'] });
  t.mock.method(performance, 'now', () => clock.ms);
  const admitted: string[] = [];
  const releases: Awaited<ReturnType<ReturnType<typeof createPace>>>[] = [];
  const pace = createPace(rate);
  return {
    admitted,
    take: async (name: string, signal?: AbortSignal, isRetry = false) => {
      const release = await pace(signal, isRetry);
      admitted.push(name);
      releases.push(release);
    },
    answer: () => releases.shift()!(true, undefined),
    refuse: (holdMs: number) => releases.shift()!(false, holdMs),
    fail: () => releases.shift()!(false, undefined),
    pass: async (ms: number) => {
      clock.ms += ms;
      t.mock.timers.tick(ms);
      await settled();
    },
  };
}

/** Waits until all promises that can settle have settled. */
function settled(): Promise<void> {
  return new Promise(setImmediate);
}

test('a slot becomes free one second after the answer, not before', async (t) => {
  const { admitted, take, answer, pass } = paceOf(t, 2);
  for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) take(name);
  await pass(5_000);
  assert.deepEqual(admitted, ['a', 'b'], 'no slot becomes free before an answer');
  answer();
  await pass(1_000);
  assert.deepEqual(admitted, ['a', 'b'], 'not within the second');
  answer();
  await pass(20);
  assert.deepEqual(admitted, ['a', 'b', 'c'], 'first come, first served');
  await pass(1_000);
  assert.deepEqual(admitted, ['a', 'b', 'c', 'd']);
  answer();
  answer();
  await pass(1_020);
  assert.deepEqual(admitted, ['a', 'b', 'c', 'd', 'e', 'f'], 'two slots, two at once');
});

test('an aborted call leaves its slot to the next', async (t) => {
  const { admitted, take, answer, pass } = paceOf(t, 1);
  const controller = new AbortController();
  take('a');
  const givenUp = take('b', controller.signal);
  take('c');
  await settled();
  answer();
  const reason = new Error('enough');
  controller.abort(reason);
  await assert.rejects(givenUp, reason);
  await pass(1_020);
  assert.deepEqual(admitted, ['a', 'c']);
});

test('retries go before first attempts', async (t) => {
  const { admitted, take, answer, pass } = paceOf(t, 1);
  for (const name of ['a', 'b', 'c']) take(name);
  take('again', undefined, true);
  await pass(0);
  for (let round = 0; round < 3; round += 1) {
    answer();
    await pass(1_020);
  }
  assert.deepEqual(admitted, ['a', 'again', 'b', 'c']);
});

test('while a 429 asks to wait, nothing is sent, even if a slot is free', async (t) => {
  const { admitted, take, refuse, pass } = paceOf(t, 2);
  take('a');
  await pass(0);
  refuse(3_000);
  take('b');
  await pass(2_000);
  take('c');
  await pass(990);
  assert.deepEqual(admitted, ['a']);
  await pass(20);
  assert.deepEqual(admitted, ['a', 'b'], 'one call, because others use the same rate');
});

test('refusals at the same time halve the rate once, and each page raises it', async (t) => {
  const { admitted, take, answer, refuse, fail, pass } = paceOf(t, 8);
  for (let call = 0; call < 40; call += 1) take(String(call));
  await pass(0);
  // The first refusal asks for no wait. All calls were sent before the first refusal.
  for (let call = 0; call < 8; call += 1) refuse(call === 0 ? 0 : 100);
  await pass(1_020);
  assert.equal(admitted.length, 8 + 4);
  for (let call = 0; call < 4; call += 1) fail();
  await pass(1_020);
  assert.equal(admitted.length, 8 + 4 + 4, 'a failure does not raise the rate');
  admitted.length -= 4;
  for (let call = 0; call < 4; call += 1) answer();
  await pass(1_020);
  assert.equal(admitted.length, 8 + 4 + 8, 'the rate is as before');
  for (let call = 0; call < 8; call += 1) answer();
  await pass(1_020);
  assert.equal(admitted.length, 8 + 4 + 8 + 8, 'and does not rise further');
});

test('a 429 holds back the calls of its own listing only', async () => {
  const refused = { status: 429, headers: { 'retry-after': '50' } };
  const fetch = async (url: string) =>
    url.includes('brands') ? new Response('', refused) : Response.json({ balances: [] });
  const network = connectTo('http://localhost/network/v1', { fetch, maxRetries: 0 });
  await rejectionOf(network.brands.list());
  const signal = AbortSignal.timeout(20_000);
  await network.balances.list({ customer_id: 'alice', type: 'CHECKING' }, { signal });
});

/** More calls than are sent at once. */
const calls = brandsPerSecond + 10;

/** How many of the calls are sent before any is answered. */
async function sentAtOnce(listing: 'brands' | 'balances', maxRate?: number): Promise<number> {
  const { promise: answers, resolve } = Promise.withResolvers<void>();
  let sent = 0;
  const network = connectTo('http://localhost/network/v1', {
    maxRate,
    fetch: async () => {
      sent += 1;
      await answers;
      return Response.json({ [listing]: [] });
    },
  });
  const controller = new AbortController();
  const list = (options: object) =>
    listing === 'brands'
      ? network.brands.list({}, options)
      : network.balances.list({ customer_id: 'alice', type: 'CHECKING' }, options);
  const lists = Array.from({ length: calls }, () => list({ signal: controller.signal }));
  const ended = Promise.allSettled(lists);
  await settled();
  const count = sent;
  controller.abort();
  resolve();
  await ended;
  return count;
}

test("keeps the service's rate for brands by default, and does not limit balances", async () => {
  assert.equal(await sentAtOnce('brands'), brandsPerSecond);
  assert.equal(await sentAtOnce('balances'), calls);
  assert.equal(await sentAtOnce('brands', 7), 7);
  assert.equal(await sentAtOnce('balances', 7), 7);
  assert.equal(await sentAtOnce('brands', 0), calls);
});

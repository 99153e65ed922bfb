import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { brandsPerSecond } from '@partner-network/contract/limits';
import { createMemoryLimiter } from '../../server/src/limiter/memory.ts';
import { documentedFetch } from '../../server/test/support/documented.ts';
import { createPace } from '../src/pace.ts';
import { connectTo, startNetwork } from './support/network.ts';

test('well over a hundred calls at once draw no 429, however long each is on its way', async (t) => {
  const limiters = { brands: createMemoryLimiter(brandsPerSecond) };
  const { connect } = await startNetwork(t, { limiters });
  const statuses: number[] = [];
  let sent = 0;
  const network = connect({
    maxRetries: 0,
    // The first ones take long to get there, and count from then on.
    fetch: async (url, init) => {
      sent += 1;
      if (sent <= brandsPerSecond) await wait(300);
      return documentedFetch(url, init);
    },
    onResponse: ({ status }) => void statuses.push(status),
  });
  await Promise.all(Array.from({ length: 130 }, () => network.brands.list({ limit: 1 })));
  assert.deepEqual(statuses, Array(130).fill(200));
});

/** A pace on a clock that the test moves. */
function paceOf(t: TestContext, rate: number) {
  const clock = { ms: 0 };
  t.mock.timers.enable({ apis: ['setTimeout'] });
  t.mock.method(performance, 'now', () => clock.ms);
  const admitted: string[] = [];
  const releases: (() => void)[] = [];
  const pace = createPace(rate);
  return {
    admitted,
    take: async (name: string, signal?: AbortSignal) => {
      const release = await pace.take(signal);
      admitted.push(name);
      releases.push(release);
    },
    answer: () => releases.shift()!(),
    pass: async (ms: number) => {
      clock.ms += ms;
      t.mock.timers.tick(ms);
      await settled();
    },
  };
}

/** Lets every promise that can go on do so. */
function settled(): Promise<void> {
  return new Promise(setImmediate);
}

test('a place comes free a second after the answer, and not before', async (t) => {
  const { admitted, take, answer, pass } = paceOf(t, 2);
  for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) take(name);
  await pass(5_000);
  assert.deepEqual(admitted, ['a', 'b'], 'while none is answered, no place comes free');
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
  assert.deepEqual(admitted, ['a', 'b', 'c', 'd', 'e', 'f'], 'two places, two at once');
});

test('who gives up waiting leaves the place to the next', async (t) => {
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

/** More than are sent at once. */
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

test('keeps to what the service admits of brands unless told otherwise, and lets balances go', async () => {
  assert.equal(await sentAtOnce('brands'), brandsPerSecond);
  assert.equal(await sentAtOnce('balances'), calls);
  assert.equal(await sentAtOnce('brands', 7), 7);
  assert.equal(await sentAtOnce('balances', 7), 7);
  assert.equal(await sentAtOnce('brands', 0), calls);
});

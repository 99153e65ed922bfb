/** Where instances do not know all that was admitted: Redis goes, comes, or is late for one of them alone. */
import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { type TestContext, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { mostWithinASecond, type Span } from '../../../../testkit/fixtures/spans.ts';
import { until } from '../../../../testkit/fixtures/until.ts';
import { startProxy } from '../../../../testkit/servers/proxy.ts';
import { needsOwnRedis, startRedis } from '../../../../testkit/servers/redis.ts';
import { watchedLog } from '../../../../testkit/watch/logs.ts';
import { limiterBounds } from '../../../src/bounds/limiter.ts';
import type { Decision } from '../../../src/limiter/port.ts';
import { watchRedis } from '../../../src/limiter/redis/watch.ts';
import { openLimiter, openLimiterInstances, type TestLimiter } from './limiters.ts';

type Timed = Decision & Span;

const crowd = (limiter: TestLimiter, count: number) =>
  Promise.all(Array.from({ length: count }, () => limiter.timed('p')));

const admittedOf = (decided: readonly Timed[]) => decided.filter(({ isAdmitted }) => isAdmitted);

/** Asks until it is told to stop. */
function load(t: TestContext, limiters: readonly TestLimiter[]): () => Promise<Timed[]> {
  const pending: Promise<Timed>[] = [];
  const timer = setInterval(() => {
    for (const limiter of limiters) pending.push(limiter.timed('p'));
  }, 4);
  t.after(() => clearInterval(timer));
  return async () => {
    clearInterval(timer);
    return Promise.all(pending);
  };
}

test(
  'what was left when an instance last asked is not admitted when Redis is gone: others may have used it',
  needsOwnRedis,
  async (t) => {
    const redis = await startRedis(t);
    const [busy, idle] = await openLimiterInstances(t, redis.url, 2);
    assert.equal((await idle!.admit('p')).left, 49);
    const decided = await crowd(busy!, 49);
    assert.equal(admittedOf(decided).length, 49);
    await redis.kill();
    const after = await crowd(idle!, 50);
    const tookMs = Math.max(...after.map(({ receivedMs }) => receivedMs)) - decided[0]!.sentMs;
    if (tookMs >= 1_000) return t.skip('the machine took longer for it than what was admitted counts');
    assert.deepEqual(admittedOf(after), []);
  },
);

test(
  'what one that is alone admits while Redis hesitates does not come on top of what Redis admits after it',
  needsOwnRedis,
  async (t) => {
    const redis = await startRedis(t);
    const alone = await openLimiter(t, redis.url);
    redis.freeze();
    const decided = await crowd(alone, 60);
    redis.thaw();
    const before = alone.decisions('redis');
    await until(5_000, async () => {
      decided.push(...(await crowd(alone, 5)));
      return alone.decisions('redis') > before;
    });
    decided.push(...(await crowd(alone, 60)));
    const most = mostWithinASecond(admittedOf(decided));
    assert.equal(most, 50, `${most} in a second`);
  },
);

test(
  'what is admitted without Redis does not come on top of what it admits when it is back at once',
  needsOwnRedis,
  async (t) => {
    const redis = await startRedis(t);
    const [asked, unasked] = await openLimiterInstances(t, redis.url, 2);
    redis.freeze();
    const stop = load(t, [asked!]);
    await wait(800);
    redis.thaw();
    const before = unasked!.decisions('redis');
    const decided: Timed[] = [];
    // How many depends on whether it missed Redis, too. What was sent to the frozen one counts, also if late.
    await until(5_000, async () => {
      decided.push(...(await crowd(unasked!, 50)));
      return unasked!.decisions('redis') > before && admittedOf(decided).length > 0;
    });
    const admitted = admittedOf([...decided, ...(await stop())]);
    assert.ok(mostWithinASecond(admitted) <= 50, `${mostWithinASecond(admitted)} in a second`);
  },
);

test(
  'one that Redis is slow for, alone, takes its share from what the others get',
  needsOwnRedis,
  async (t) => {
    const redis = await startRedis(t);
    const proxy = await startProxy(t, redis.port);
    const [near, far] = await Promise.all([
      openLimiter(t, redis.url),
      openLimiter(t, `redis://127.0.0.1:${proxy.port}`),
    ]);
    await until(10_000, () => near.instances() === 2 && far.instances() === 2);
    const stop = load(t, [near, far]);
    await wait(500);
    proxy.delay(50);
    await wait(1_500);
    proxy.delay(0);
    const before = far.decisions('redis');
    await until(3_000, () => far.decisions('redis') > before);
    await wait(1_000);
    const admitted = admittedOf(await stop());
    assert.ok(far.fallbacks() > 50, 'it decided alone');
    assert.ok(mostWithinASecond(admitted) <= 50, `${mostWithinASecond(admitted)} in a second`);
    assert.ok(admitted.length > 90, `${admitted.length} in three seconds`);
  },
);

test(
  'what Redis admitted before this process stood still is not admitted after',
  needsOwnRedis,
  async (t) => {
    const limiter = await openLimiter(t, (await startRedis(t)).url);
    await limiter.admit('p');
    const pending = limiter.admit('p');
    // It is sent at the end of this turn; the answer then lies in the socket for longer than it counts.
    await new Promise(setImmediate);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_100);
    assert.equal((await pending).isAdmitted, false);
    assert.equal((await limiter.admit('p')).isAdmitted, true);
  },
);

test(
  'one that starts without Redis, and is told of others, admits nothing for a second, and then its share',
  needsOwnRedis,
  async (t) => {
    const redis = await startRedis(t);
    await redis.kill();
    const limiter = await openLimiter(t, redis.url, { instances: 2 });
    const { isAdmitted, untilMoreMs } = await limiter.admit('p');
    assert.equal(isAdmitted, false);
    await wait(Math.ceil(untilMoreMs) + 1);
    assert.equal(admittedOf(await crowd(limiter, 60)).length, 25);
  },
);

test('there are never fewer instances than it was told of', async (t) => {
  let nowMs = 0;
  t.mock.method(performance, 'now', () => nowMs);
  t.mock.timers.enable({ apis: ['setInterval', 'setTimeout'] });
  const redis = Object.assign(new EventEmitter(), { status: 'ready' }) as unknown as Redis;
  // It knows of one.
  const watch = watchRedis(redis, async () => 1, 2, watchedLog().log);
  redis.emit('ready');
  // For longer than it takes to believe it.
  for (; nowMs < 2 * limiterBounds.instanceStaleMs; nowMs += limiterBounds.redisProbeMs) {
    t.mock.timers.tick(limiterBounds.redisProbeMs);
    await new Promise(setImmediate);
    assert.equal(watch.instances(), 2);
  }
  assert.ok(watch.isAnswering());
  watch.stop();
});

/** What becomes of the rate limit when its Redis is killed, frozen, slow, cut off or not there at all. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { beforeEach, type TestContext, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { mostWithinASecond, type Span } from '../../../../testkit/fixtures/spans.ts';
import { until } from '../../../../testkit/fixtures/until.ts';
import { startProxy } from '../../../../testkit/servers/proxy.ts';
import { needsOwnRedis, redisClient, startRedis } from '../../../../testkit/servers/redis.ts';
import type { Decision } from '../../../src/limiter/port.ts';
import { openLimiter, openLimiterInstances, type TestLimiter } from './limiters.ts';

type Timed = Decision & Span;

const longestDecisionMs = 60;
const longestReturnMs = 3_000;

/** Asks every limiter every few milliseconds until it is told to stop, and keeps what each decided. */
function load(t: TestContext, limiters: readonly TestLimiter[], everyMs = 4) {
  const decided = limiters.map(() => [] as Timed[]);
  const pending: Promise<unknown>[] = [];
  const timer = setInterval(() => {
    for (const [index, limiter] of limiters.entries()) {
      pending.push(limiter.timed('p').then((decision) => decided[index]!.push(decision)));
    }
  }, everyMs);
  t.after(() => clearInterval(timer));
  return {
    stop: async (): Promise<Timed[][]> => {
      clearInterval(timer);
      await Promise.all(pending);
      return decided;
    },
  };
}

function admittedAfter(decided: readonly Timed[], ms: number): Timed[] {
  return decided.filter(({ isAdmitted, sentMs }) => isAdmitted && sentMs > ms);
}

/** How long this process was kept waiting by itself or by the machine, which is no delay of a decision. */
const stalls = monitorEventLoopDelay({ resolution: 1 });
stalls.enable();
beforeEach(() => stalls.reset());

function assertPrompt(t: TestContext, decided: readonly Timed[]): void {
  const longest = Math.max(...decided.map(({ sentMs, receivedMs }) => receivedMs - sentMs));
  const stall = stalls.max / 1e6;
  t.diagnostic(
    `${decided.length} decisions, the longest in ${longest.toFixed(1)} ms; stalled for ${stall.toFixed(1)} ms`,
  );
  assert.ok(longest < longestDecisionMs + stall, `${longest} ms`);
}

/** Resolves when Redis decides again. It is asked for partners who have used nothing of their rate yet. */
async function assertReturn(t: TestContext, limiter: TestLimiter): Promise<void> {
  const before = limiter.decisions('redis');
  const ms = await until(longestReturnMs, async () => {
    await limiter.admit(randomUUID());
    return limiter.decisions('redis') > before;
  });
  t.diagnostic(`Redis decides again ${ms.toFixed(0)} ms after its return`);
}

test(
  'killed and started anew: each instance admits its share, and all together never over the rate',
  needsOwnRedis,
  async (t) => {
    const redis = await startRedis(t);
    const limiters = await openLimiterInstances(t, redis.url, 4);
    const running = load(t, limiters);
    await wait(1_200);
    await redis.kill();
    const killedMs = performance.now();
    // Longer than it takes to believe that there are fewer instances.
    await wait(3_500);
    await redis.start();
    const startedMs = performance.now();
    await Promise.all(limiters.map((limiter) => assertReturn(t, limiter)));
    await wait(2_500);
    const decided = await running.stop();

    assertPrompt(t, decided.flat());
    for (const [index, decisions] of decided.entries()) {
      assert.ok(limiters[index]!.fallbacks() > 300);
      const alone = admittedAfter(decisions, killedMs).filter(({ receivedMs }) => receivedMs < startedMs);
      assert.ok(mostWithinASecond(alone) <= 12, 'more than 50 / 4 in a second');
      assert.ok(alone.length >= 12 && alone.length <= 48, `${alone.length} in 3.5 s`);
    }
    const together = decided.flat().filter(({ isAdmitted }) => isAdmitted);
    assert.ok(mostWithinASecond(together) <= 50, `${mostWithinASecond(together)} in a second`);
  },
);

test('what Redis admitted here counts against the share when Redis is gone', needsOwnRedis, async (t) => {
  const redis = await startRedis(t);
  const limiter = await openLimiter(t, redis.url);
  const [first] = await Promise.all(Array.from({ length: 50 }, () => limiter.timed('p')));
  await redis.kill();
  const decision = await limiter.timed('p');
  assert.deepEqual([decision.isAdmitted, decision.left, limiter.fallbacks()], [false, 0, 1]);
  assert.ok(decision.receivedMs - first!.sentMs < 1_000, 'within the second');
  await wait(Math.ceil(decision.untilMoreMs) + 1);
  assert.equal((await limiter.admit('p')).isAdmitted, true);
});

test(
  'what Redis admitted elsewhere counts for a second after it was told of it',
  needsOwnRedis,
  async (t) => {
    const redis = await startRedis(t);
    const [busy, idle] = await openLimiterInstances(t, redis.url, 2);
    await Promise.all(Array.from({ length: 50 }, () => busy!.admit('p')));
    assert.equal((await idle!.admit('p')).isAdmitted, false);
    await redis.kill();
    const { isAdmitted, left, untilMoreMs } = await idle!.admit('p');
    assert.deepEqual([isAdmitted, left, idle!.fallbacks()], [false, 0, 1]);
    await wait(Math.ceil(untilMoreMs) + 1);
    assert.deepEqual(await idle!.admit('p').then((decision) => [decision.isAdmitted, decision.left]), [
      true,
      24,
    ]);
  },
);

test('what a Redis forgot that was started anew is not admitted twice', needsOwnRedis, async (t) => {
  const redis = await startRedis(t);
  const limiters = await openLimiterInstances(t, redis.url, 2);
  const decided: Timed[] = [];
  for (let round = 0; round < 25; round += 1) {
    for (const limiter of limiters) decided.push(await limiter.timed('p'));
  }
  assert.ok(decided.every(({ isAdmitted }) => isAdmitted));
  await redis.kill();
  await redis.start();
  const running = load(t, limiters);
  await Promise.all(limiters.map((limiter) => assertReturn(t, limiter)));
  const another: boolean[] = [];
  for (let call = 0; call < 30; call += 1) another.push((await limiters[0]!.admit('q')).isAdmitted);
  assert.equal(another.filter(Boolean).length, 25, 'its share, as long as others may have admitted theirs');
  await wait(1_000);
  const admitted = [...decided, ...(await running.stop()).flat()].filter(({ isAdmitted }) => isAdmitted);
  assert.ok(mostWithinASecond(admitted) <= 50, `${mostWithinASecond(admitted)} in a second`);
});

test(
  'frozen: nothing waits, nothing piles up, and Redis decides again when it thaws',
  needsOwnRedis,
  async (t) => {
    const redis = await startRedis(t);
    const limiter = await openLimiter(t, redis.url);
    const client = redisClient(t, redis.url);
    const scriptCalls = async () => {
      const calls = (await client.info('commandstats')).matchAll(/cmdstat_eval(?:sha)?:calls=(\d+)/g);
      return [...calls].reduce((sum, [, count]) => sum + Number(count), 0);
    };
    await limiter.admit('p');
    const before = await scriptCalls();
    redis.freeze();
    const crowd = await Promise.all(Array.from({ length: 100 }, () => limiter.timed('p')));
    assertPrompt(t, crowd);
    const running = load(t, [limiter], 1);
    await wait(2_500);
    const [decided = []] = await running.stop();
    assertPrompt(t, decided);
    assert.equal(limiter.fallbacks(), crowd.length + decided.length);
    assert.ok(mostWithinASecond([...crowd, ...decided].filter(({ isAdmitted }) => isAdmitted)) <= 50);

    const after = load(t, [limiter]);
    redis.thaw();
    await assertReturn(t, limiter);
    await after.stop();
    const sent = (await scriptCalls()) - before;
    t.diagnostic(`${sent} of ${crowd.length + decided.length} were sent to the frozen Redis, or since`);
    assert.ok(sent < crowd.length + 500, `${sent}`);
  },
);

test(
  'slow: decides without it after the first, and asks it again when it is fast',
  needsOwnRedis,
  async (t) => {
    const proxy = await startProxy(t, (await startRedis(t)).port);
    const limiter = await openLimiter(t, `redis://127.0.0.1:${proxy.port}`);
    await limiter.admit('p');
    proxy.delay(50);
    const running = load(t, [limiter]);
    await until(5_000, () => limiter.fallbacks() > 0);
    const before = limiter.decisions('redis');
    await wait(2_000);
    assert.equal(limiter.decisions('redis'), before, 'an answer that is late is none');
    proxy.delay(0);
    await assertReturn(t, limiter);
    const [decided = []] = await running.stop();
    assertPrompt(t, decided);
    const slow = decided.filter(({ sentMs, receivedMs }) => receivedMs - sentMs > 15);
    assert.ok(slow.length < 20, `${slow.length} of ${decided.length} waited for a slow Redis`);
  },
);

test('cut off without a word: the connection is made anew', needsOwnRedis, async (t) => {
  const proxy = await startProxy(t, (await startRedis(t)).port);
  const limiter = await openLimiter(t, `redis://127.0.0.1:${proxy.port}`);
  const running = load(t, [limiter]);
  await until(5_000, () => limiter.decisions('redis') > 0);
  proxy.swallow();
  await until(5_000, () => limiter.fallbacks() > 0);
  await assertReturn(t, limiter);
  const [decided = []] = await running.stop();
  assertPrompt(t, decided);
});

test('an answer that came while the process was busy is not missed', needsOwnRedis, async (t) => {
  const limiter = await openLimiter(t, (await startRedis(t)).url);
  for (let round = 0; round < 4; round += 1) {
    const pending = limiter.admit('p');
    // Long enough for Redis to have its turn, and to answer, also on a machine with other work.
    const busyUntilMs = performance.now() + 250;
    while (performance.now() < busyUntilMs);
    await pending;
  }
  assert.deepEqual([limiter.decisions('redis'), limiter.fallbacks()], [4, 0]);
});

test('instances count while they live, and leave when they close', needsOwnRedis, async (t) => {
  const redis = await startRedis(t);
  const [first, second, third] = await openLimiterInstances(t, redis.url, 3);
  const client = redisClient(t, redis.url);
  const living = 'partner-network:sandbox:instances';
  await third!.close();
  // One that is gone without a word is forgotten after three seconds, and missed for as many.
  await until(2_000, async () => (await client.zcard(living)) === 2);
  await until(10_000, () => first!.instances() === 2 && second!.instances() === 2);
  await client.zadd(living, Date.now() * 1_000, 'gone');
  await until(10_000, () => first!.instances() === 3);
  await until(10_000, () => first!.instances() === 2);
  assert.ok((await client.pttl(living)) <= 3_000);
});

test(
  'not there at the start: serves without it, says so once, and uses it when it comes',
  needsOwnRedis,
  async (t) => {
    const redis = await startRedis(t);
    await redis.kill();
    const startedMs = performance.now();
    const limiter = await openLimiter(t, `redis://user:secret@127.0.0.1:${redis.port}`);
    assert.ok(performance.now() - startedMs < 2_500);
    assert.equal((await limiter.admit('p')).isAdmitted, true);
    await wait(1_500);
    const warnings = limiter
      .logs()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    assert.deepEqual(
      warnings.map(({ level, reason }) => [level, reason]),
      [[40, 'ECONNREFUSED']],
    );

    await redis.start();
    const client = redisClient(t, redis.url);
    await client.call('ACL', 'SETUSER', 'user', 'on', '>secret', '~*', '+@all');
    await until(longestReturnMs, () => limiter.logs().includes('Redis answers again'));
    await limiter.admit('p');
    assert.equal(limiter.decisions('redis'), 1);
    assert.ok(!limiter.logs().includes('secret'));
  },
);

test('a wrong password is told by its kind, and never repeated', needsOwnRedis, async (t) => {
  const { port } = await startRedis(t);
  const limiter = await openLimiter(t, `redis://user:secret@127.0.0.1:${port}`);
  assert.equal((await limiter.admit('p')).isAdmitted, true);
  assert.equal(limiter.fallbacks(), 1);
  assert.match(limiter.logs(), /"reason":"WRONGPASS"/);
  assert.ok(!limiter.logs().includes('secret'));
});

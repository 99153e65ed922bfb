/** The rate limit when a real Redis is killed or frozen, and returns. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { beforeEach, type TestContext, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { mostWithinASecond, type Span } from '../../../../testkit/fixtures/spans.ts';
import { until } from '../../../../testkit/fixtures/until.ts';
import { longWithOwnRedis, needsOwnRedis, startRedis } from '../../../../testkit/servers/redis.ts';
import type { Decided } from '../../../src/limiter/rate-limit.ts';
import { openLimiterInstances, type TestLimiter } from './limiters.ts';

type Timed = Decided & Span;

const rate = 50;
const longestDecisionMs = 60;
const longestReturnMs = 3_000;

/** Sends a request to every limiter every few milliseconds until it is stopped. */
function load(t: TestContext, limiters: readonly TestLimiter[], everyMs = 4) {
  const pending: Promise<Timed>[] = [];
  const timer = setInterval(() => {
    for (const limiter of limiters) pending.push(limiter.timed('p'));
  }, everyMs);
  t.after(() => clearInterval(timer));
  return async (): Promise<Timed[]> => {
    clearInterval(timer);
    return Promise.all(pending);
  };
}

const burst = (limiter: TestLimiter, count: number) =>
  Promise.all(Array.from({ length: count }, () => limiter.timed('p')));

const admittedOf = (decided: readonly Timed[]) => decided.filter(({ isAdmitted }) => isAdmitted);

/** How long this process was held up by other work, which is not a delay of a decision. */
const stalls = monitorEventLoopDelay({ resolution: 1 });
stalls.enable();
beforeEach(() => stalls.reset());

function assertPrompt(t: TestContext, decided: readonly Timed[]): void {
  const longest = Math.max(...decided.map(({ sentMs, receivedMs }) => receivedMs - sentMs));
  const stall = stalls.max / 1e6;
  t.diagnostic(`${decided.length} decisions, longest ${longest.toFixed(1)} ms, stall ${stall.toFixed(1)} ms`);
  assert.ok(longest < longestDecisionMs + stall, `${longest} ms`);
}

/** Resolves when Redis decides again. Uses new partners, so the load does not count against them. */
async function untilRedisDecides(t: TestContext, limiter: TestLimiter): Promise<void> {
  const before = limiter.decisions('redis');
  const ms = await until(longestReturnMs, async () => {
    await limiter.admit(randomUUID());
    return limiter.decisions('redis') > before;
  });
  t.diagnostic(`Redis decides again ${ms.toFixed(0)} ms after its return`);
}

for (const loss of ['killed', 'frozen'] as const) {
  test(
    `${loss} under load: each instance admits its share, and twice the rate is never exceeded`,
    longWithOwnRedis,
    async (t) => {
      const redis = await startRedis(t);
      const limiters = await openLimiterInstances(t, redis.url, 4);
      const stop = load(t, limiters);
      await wait(1_200);
      const lostMs = performance.now();
      if (loss === 'killed') await redis.kill();
      else redis.freeze();
      await wait(3_000);
      const backMs = performance.now();
      if (loss === 'killed') await redis.start();
      else redis.thaw();
      await Promise.all(limiters.map((limiter) => untilRedisDecides(t, limiter)));
      await wait(1_500);
      const decided = await stop();

      assertPrompt(t, decided);
      const most = mostWithinASecond(admittedOf(decided));
      t.diagnostic(`${most} admitted in the fullest second`);
      assert.ok(most <= 2 * rate, `${most} in a second`);
      // From one second after the loss on, nothing that Redis admitted counts.
      const meanwhile = decided.filter(
        ({ sentMs, receivedMs }) => sentMs > lostMs + 1_000 && receivedMs < backMs,
      );
      assert.ok(meanwhile.every(({ source }) => source === 'local'));
      const shares = 4 * 12;
      assert.ok(mostWithinASecond(admittedOf(meanwhile)) <= shares, 'more than four shares in a second');
      // Half of what two seconds allow: a busy machine sends fewer requests.
      assert.ok(admittedOf(meanwhile).length >= shares, `${admittedOf(meanwhile).length} in two seconds`);
      assert.ok(limiters.every((limiter) => limiter.fallbacks() > 300));
    },
  );
}

test('restarted at once: with lost admissions, twice the rate is not exceeded', needsOwnRedis, async (t) => {
  const redis = await startRedis(t);
  const [busy, idle] = await openLimiterInstances(t, redis.url, 2);
  const decided = await burst(busy!, rate);
  await redis.kill();
  await redis.start();
  const stop = load(t, [busy!, idle!]);
  await Promise.all([busy!, idle!].map((limiter) => untilRedisDecides(t, limiter)));
  await wait(500);
  const most = mostWithinASecond(admittedOf([...decided, ...(await stop())]));
  t.diagnostic(`${most} admitted in the fullest second`);
  assert.ok(most <= 2 * rate, `${most} in a second`);
});

/** The rate over several instances while Redis answers, and after it was restarted. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import fc from 'fast-check';
import type { Redis } from 'ioredis';
import { keys } from '../../../../testkit/fixtures/fixture.ts';
import { until } from '../../../../testkit/fixtures/lifetime.ts';
import { mostWithinASecond } from '../../../../testkit/fixtures/spans.ts';
import {
  needsOwnRedis,
  needsRedis,
  redisClient,
  redisUrl,
  startRedis,
} from '../../../../testkit/servers/redis.ts';
import { startTestService } from '../../../../testkit/service/service.ts';
import { openLimiter, openLimiterInstances, type TestLimiter } from './limiters.ts';

const rate = 50;
const second = 1_000_000;

/** The commands that Redis receives from now on, each as a list of words. */
async function monitored(t: TestContext, url: string): Promise<string[][]> {
  const commands: string[][] = [];
  const monitor = await redisClient(t, url).monitor();
  t.after(() => monitor.disconnect());
  monitor.on('error', () => {});
  monitor.on('monitor', (_time: string, words: string[]) => commands.push(words));
  return commands;
}

test('eight instances never let 51 through in any second of Redis', needsOwnRedis, async (t) => {
  const { url } = await startRedis(t);
  const commands = await monitored(t, url);
  const limiters = await openLimiterInstances(t, url, 8);
  let admitted = 0;
  let refused = 0;
  const startedMs = performance.now();
  // Bursts on all instances, a few requests on some of them, and pauses.
  for (let round = 0; performance.now() - startedMs < 4_000; round += 1) {
    const burst = limiters.flatMap((limiter, index) =>
      Array(index < round % 9 ? (round % 5) + 1 : 0).fill(limiter),
    );
    const decisions = await Promise.all(burst.map((limiter) => limiter.admit('p')));
    const passed = decisions.filter(({ isAdmitted }) => isAdmitted).length;
    admitted += passed;
    refused += decisions.length - passed;
    await wait(round % 40 === 0 ? 333 : round % 4);
  }

  // On a busy machine Redis may be lost for a moment. What it admits is exact all the same.
  const fallbacks = limiters.reduce((sum, limiter) => sum + limiter.fallbacks(), 0);
  const times = commands.filter(([name]) => name === 'RPUSH').map(([, , micros]) => Number(micros));
  assert.ok(Math.abs(times.length - admitted) <= fallbacks, `${times.length}, ${admitted}, ${fallbacks}`);
  assert.ok(refused > admitted && admitted > 2 * rate, `${admitted} admitted, ${refused} refused`);
  for (let index = rate; index < times.length; index += 1) {
    assert.ok(times[index]! - times[index - rate]! >= second, '51 within a second');
  }
  const memory = await redisClient(t, url).memory('USAGE', 'partner-network:sandbox:brands:p');
  assert.ok(Number(memory) < 1_024, `Redis keeps ${memory} bytes of the partner`);
});

test(
  "a partner's own rate is exact over two instances, above and below the default",
  needsOwnRedis,
  async (t) => {
    const { url } = await startRedis(t);
    const limiters = await openLimiterInstances(t, url, 2);
    for (const ownRate of [20, 80]) {
      // On a busy machine Redis may be lost for a moment, or the burst take longer than a second.
      await until(20_000, async () => {
        const partner = randomUUID();
        const sentMs = performance.now();
        const burst = Array.from({ length: 60 }, () =>
          limiters.map(({ admit }) => admit(partner, ownRate)),
        ).flat();
        const decisions = await Promise.all(burst);
        if (decisions.some(({ source }) => source !== 'redis') || performance.now() - sentMs > 900)
          return false;
        const passed = decisions.filter(({ isAdmitted }) => isAdmitted);
        const counts = passed.map(({ admitted }) => admitted).toSorted((one, other) => one - other);
        assert.deepEqual(
          counts,
          Array.from({ length: ownRate }, (_, index) => index + 1),
        );
        return true;
      });
    }
  },
);

test('restarted at once: with lost admissions, twice the rate is not exceeded', needsOwnRedis, async (t) => {
  const redis = await startRedis(t);
  const limiters = await openLimiterInstances(t, redis.url, 2);
  const pending = Array.from({ length: rate }, () => limiters[0]!.timed('p'));
  await Promise.all(pending);
  await redis.kill();
  await redis.start();
  const timer = setInterval(() => pending.push(...limiters.map((limiter) => limiter.timed('p'))), 4);
  t.after(() => clearInterval(timer));
  // New partners, so that the load does not count against them.
  const decidesAgain = async (limiter: TestLimiter) => (await limiter.admit(randomUUID())).source === 'redis';
  for (const limiter of limiters) await until(20_000, () => decidesAgain(limiter));
  await wait(500);
  clearInterval(timer);
  const most = mostWithinASecond((await Promise.all(pending)).filter(({ isAdmitted }) => isAdmitted));
  assert.ok(most <= 2 * rate, `${most} in a second`);
});

/** Runs the script on a clock that the test controls. */
function onClock(redis: Redis, limit: number) {
  const lua = readFileSync(new URL('../../../src/limiter/redis/admit.lua', import.meta.url), 'utf8');
  const clocked = lua.replace("redis.call('TIME')", '{ARGV[4], ARGV[5]}');
  assert.notEqual(clocked, lua);
  return async (log: string, instants: readonly number[]) => {
    const pipeline = redis.pipeline();
    for (const now of instants) {
      const time = [Math.floor(now / second), now % second];
      pipeline.eval(clocked, 1, log, limit, second, 60_000, ...time);
    }
    const answers = (await pipeline.exec()) ?? [];
    return answers.map(([error, answer]) => {
      assert.equal(error, null);
      return answer as [admitted: number, left: number, untilMore: number];
    });
  };
}

/** The expected replies. The model keeps all admissions and counts those of the last second. */
function modelled(limit: number, instants: readonly number[]) {
  let admissions: number[] = [];
  return instants.map((now) => {
    admissions = admissions.map((time) => Math.min(time, now)).filter((time) => now - time < second);
    const fits = admissions.length < limit;
    if (fits) admissions.push(now);
    return [fits ? 1 : 0, limit - admissions.length, second - (now - admissions[0]!)];
  });
}

/** Microseconds to the next arrival: some end on the edge of a second, some go back in time. */
const step = fc.oneof(
  { weight: 6, arbitrary: fc.nat(400_000) },
  { weight: 2, arbitrary: fc.constantFrom(0, 1, second / 2, second - 1, second) },
  { weight: 1, arbitrary: fc.integer({ min: -3_600 * second, max: 5 * second }) },
);

test('an admission counts for a second, also after the clock was set back', needsRedis, async (t) => {
  const url = await redisUrl(t);
  const decide = onClock(redisClient(t, url), 3);
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 100 }), async (steps) => {
      let now = 1_800_000_000 * second;
      const instants = steps.map((micros) => (now += micros));
      assert.deepEqual(await decide(`test:${randomUUID()}`, instants), modelled(3, instants));
    }),
    { numRuns: 300 },
  );
});

test('Redis receives environment, operation and partner, and never an API key', needsOwnRedis, async (t) => {
  const { url } = await startRedis(t);
  const commands = await monitored(t, url);
  const { admit, decisions } = await openLimiter(t, url);
  const service = await startTestService(t, {
    limiters: { brands: { ratePerSecond: rate, tallies: [], admit } },
  });
  // On a busy machine Redis may answer too late for the first requests.
  await until(20_000, async () => {
    await service.brands('', { key: keys.acme });
    return decisions('redis') > 0;
  });
  const stored = (await redisClient(t, url).keys('*')).sort();
  assert.deepEqual(stored, ['partner-network:sandbox:brands:acme', 'partner-network:sandbox:instances']);
  const sent = JSON.stringify(commands);
  assert.ok(sent.includes('brands:acme'));
  assert.ok(!sent.includes(keys.acme) && !sent.includes(keys.acme.slice(8, 51)));
});

test('the user, password and database number of the URL are used', needsOwnRedis, async (t) => {
  const { url, port } = await startRedis(t);
  const redis = redisClient(t, url);
  await redis.call('ACL', 'SETUSER', 'limiter', 'on', '>p@ss/word', '~partner-network:*', '+@all');
  const limiter = await openLimiter(t, `redis://limiter:p%40ss%2Fword@127.0.0.1:${port}/3`);
  assert.equal((await limiter.admit('p')).isAdmitted, true);
  assert.equal(limiter.decisions('redis'), 1);
  await redis.select(3);
  assert.equal(await redis.llen('partner-network:sandbox:brands:p'), 1);
});

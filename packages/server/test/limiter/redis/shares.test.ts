/** Who decides while Redis answers, is missed and is back, and how many: on a clock and a link of our own. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { limiterBounds } from '../../../src/bounds/limiter.ts';
import type { Decided, Decision } from '../../../src/limiter/port.ts';
import { createRedisLimiter } from '../../../src/limiter/redis/limiter.ts';

const admitted = (left: number): Decision => ({ isAdmitted: true, left, untilMoreMs: 1_000 });
const refused: Decision = { isAdmitted: false, left: 0, untilMoreMs: 300 };
const byRedis = (decision: Decision): Decided => ({ ...decision, source: 'redis' });
const here = (isAdmitted: boolean, left: number, untilMoreMs: number): Decided => ({
  isAdmitted,
  left,
  untilMoreMs,
  source: 'local',
});

interface Choices {
  readonly rate?: number;
  readonly instances?: number;
}

/** A limiter whose Redis answers what `answer` is, after `takesMs`, and nothing when it is undefined. */
function onLink(t: TestContext, { rate = 10, instances = 2 }: Choices = {}) {
  const clock = { ms: 5_000 };
  t.mock.method(performance, 'now', () => clock.ms);
  const stage = {
    clock,
    answer: undefined as Decision | undefined,
    takesMs: 0,
    isAnswering: true,
    instances,
    unknownUntilMs: 0,
    heldUntilMs: 0,
    asked: [] as [string, number, number][],
  };
  const link = {
    isAnswering: () => stage.isAnswering,
    instances: () => stage.instances,
    unknownUntilMs: () => stage.unknownUntilMs,
    heldUntilMs: () => stage.heldUntilMs,
    admit: async (key: string, ratePerSecond: number, share: number) => {
      stage.asked.push([key, ratePerSecond, share]);
      clock.ms += stage.takesMs;
      return stage.answer;
    },
    close: async () => {},
  };
  const limiter = createRedisLimiter(link, 'sandbox', 'brands', rate);
  return { stage, limiter, admit: async () => limiter.admit('acme') };
}

const tallies = (
  admittedByRedis: number,
  refusedByRedis: number,
  admittedHere: number,
  refusedHere: number,
) => [
  { source: 'redis', admitted: admittedByRedis, refused: refusedByRedis },
  { source: 'local', admitted: admittedHere, refused: refusedHere },
];

test('while Redis answers it decides, under a name of environment, operation and partner', async (t) => {
  const { stage, limiter, admit } = onLink(t);
  stage.answer = admitted(9);
  assert.deepEqual(await admit(), byRedis(admitted(9)));
  stage.answer = refused;
  assert.deepEqual(await admit(), byRedis(refused));
  assert.deepEqual(stage.asked, Array(2).fill(['partner-network:sandbox:brands:acme', 10, 5]));
  assert.deepEqual(limiter.tallies, tallies(1, 1, 0, 0));
  assert.deepEqual([limiter.fallbacks(), limiter.ratePerSecond], [0, 10]);
});

test('Redis is told the share of each, by as many instances as there are at the time', async (t) => {
  const { stage, admit } = onLink(t, { rate: 10, instances: 1 });
  stage.answer = refused;
  for (const instances of [1, 3, 11]) {
    stage.instances = instances;
    await admit();
  }
  assert.deepEqual(
    stage.asked.map(([, rate, share]) => [rate, share]),
    [
      [10, 10],
      [10, 3],
      [10, 1],
    ],
  );
});

test('without Redis an instance of several admits nothing while others may have used all', async (t) => {
  const { stage, limiter, admit } = onLink(t, { rate: 10, instances: 2 });
  stage.isAnswering = false;
  stage.unknownUntilMs = 6_000;
  assert.deepEqual(await admit(), here(false, 0, 1_000));
  stage.clock.ms = 5_999;
  assert.deepEqual(await admit(), here(false, 0, 1));
  stage.clock.ms = 6_000;
  assert.deepEqual(await admit(), here(true, 4, 1_000));
  assert.deepEqual(limiter.tallies, tallies(0, 0, 1, 2));
  assert.equal(limiter.fallbacks(), 3);
});

test('then it admits its share of the rate, and no more in a second', async (t) => {
  const { stage, limiter, admit } = onLink(t, { rate: 10, instances: 4 });
  stage.isAnswering = false;
  stage.unknownUntilMs = 5_000;
  assert.deepEqual(await admit(), here(true, 1, 1_000));
  stage.clock.ms += 100;
  assert.deepEqual(await admit(), here(true, 0, 900));
  assert.deepEqual(await admit(), here(false, 0, 900));
  stage.clock.ms += 900;
  assert.equal((await admit()).isAdmitted, true);
  assert.deepEqual(limiter.tallies, tallies(0, 0, 3, 1));
  assert.equal(limiter.fallbacks(), 4);
});

test('a single instance knows all that was admitted, and decides at once', async (t) => {
  const { stage, admit } = onLink(t, { rate: 2, instances: 1 });
  stage.answer = admitted(1);
  await admit();
  stage.answer = undefined;
  stage.isAnswering = false;
  stage.unknownUntilMs = 6_000;
  stage.clock.ms += 200;
  assert.deepEqual(await admit(), here(true, 0, 800));
  assert.deepEqual(await admit(), here(false, 0, 800));
});

test('a share is one request at the least, however many instances there are', async (t) => {
  const { admit } = onLink(t, { rate: 2, instances: 5 });
  assert.equal((await admit()).isAdmitted, true);
  assert.equal((await admit()).isAdmitted, false);
});

test('what Redis admitted here counts against the share, and what it refused does not', async (t) => {
  const { stage, admit } = onLink(t, { rate: 8, instances: 2 });
  for (const answer of [admitted(7), refused, admitted(6), refused, admitted(5)]) {
    stage.answer = answer;
    await admit();
  }
  stage.answer = undefined;
  assert.deepEqual(await admit(), here(true, 0, 1_000));
  assert.equal((await admit()).isAdmitted, false);
});

test('a Redis that is back decides within the share until it knows all again', async (t) => {
  const { stage, limiter, admit } = onLink(t, { rate: 4, instances: 2 });
  stage.heldUntilMs = 5_500;
  stage.answer = admitted(3);
  assert.deepEqual(await admit(), byRedis(admitted(3)));
  assert.deepEqual(await admit(), byRedis(admitted(3)));
  stage.clock.ms = 5_499;
  assert.deepEqual(await admit(), here(false, 0, 501));
  assert.equal(stage.asked.length, 2, 'Redis is not asked for what is over the share');
  assert.deepEqual(limiter.tallies, tallies(2, 0, 0, 1));
  assert.equal(limiter.fallbacks(), 0, 'Redis was there');
  stage.clock.ms = 5_500;
  assert.deepEqual(await admit(), byRedis(admitted(3)), 'from here on Redis alone decides');
});

test('one that is back anew, of several, admits nothing while others may have used all', async (t) => {
  const { stage, admit } = onLink(t, { rate: 4, instances: 2 });
  stage.heldUntilMs = 7_000;
  stage.unknownUntilMs = 6_000;
  stage.answer = admitted(3);
  assert.deepEqual(await admit(), here(false, 0, 1_000));
  assert.deepEqual(stage.asked, []);
  stage.clock.ms = 6_000;
  assert.deepEqual(await admit(), byRedis(admitted(3)));
});

test('what Redis decides within the share counts once', async (t) => {
  const { stage, admit } = onLink(t, { rate: 8, instances: 2 });
  stage.heldUntilMs = 10_000;
  stage.answer = admitted(7);
  for (let request = 0; request < 4; request += 1) assert.equal((await admit()).isAdmitted, true);
  assert.equal((await admit()).isAdmitted, false);
});

test('what Redis refuses within the share does not count', async (t) => {
  const { stage, admit } = onLink(t, { rate: 4, instances: 2 });
  stage.heldUntilMs = 10_000;
  stage.answer = refused;
  for (let request = 0; request < 5; request += 1) assert.deepEqual(await admit(), byRedis(refused));
  stage.answer = admitted(3);
  assert.deepEqual(await admit(), byRedis(admitted(3)));
});

test('an instance that misses Redis at that moment decides once, not twice', async (t) => {
  const { stage, admit } = onLink(t, { rate: 4, instances: 2 });
  stage.heldUntilMs = 10_000;
  assert.deepEqual(await admit(), here(true, 1, 1_000));
  assert.deepEqual(await admit(), here(true, 0, 1_000));
  stage.isAnswering = false;
  assert.equal((await admit()).isAdmitted, false);
});

test('what is refused while Redis is missed is told as such, also of one that was held', async (t) => {
  const { stage, limiter, admit } = onLink(t, { rate: 2, instances: 2 });
  stage.heldUntilMs = 10_000;
  stage.isAnswering = false;
  await admit();
  assert.deepEqual(await admit(), here(false, 0, 1_000));
  assert.equal(limiter.fallbacks(), 2);
});

test('a process that stood still for a second uses no decision from before', async (t) => {
  const { stage, limiter, admit } = onLink(t, { rate: 2, instances: 2 });
  stage.answer = admitted(1);
  stage.takesMs = limiterBounds.rateWindowMs;
  assert.deepEqual(await admit(), here(false, 0, limiterBounds.rateWindowMs));
  assert.deepEqual(limiter.tallies, tallies(0, 0, 0, 1));
  assert.equal(limiter.fallbacks(), 0, 'Redis did answer');
  stage.takesMs = limiterBounds.rateWindowMs - 1;
  assert.deepEqual(await admit(), byRedis(admitted(1)));
});

test('what it did not use does not count against its share', async (t) => {
  const { stage, admit } = onLink(t, { rate: 2, instances: 2 });
  stage.answer = admitted(1);
  stage.takesMs = limiterBounds.rateWindowMs;
  await admit();
  stage.answer = undefined;
  stage.takesMs = 0;
  assert.deepEqual(await admit(), here(true, 0, 1_000));
});

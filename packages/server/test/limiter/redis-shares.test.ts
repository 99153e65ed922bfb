/** Who decides while Redis answers, is missed and is back, and how many: on a clock and a link of our own. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { bounds } from '../../src/bounds.ts';
import type { Decision } from '../../src/limiter/port.ts';
import { createRedisLimiter } from '../../src/limiter/redis.ts';

const admitted = (left: number): Decision => ({ isAdmitted: true, left, untilMoreMs: 1_000 });
const refused: Decision = { isAdmitted: false, left: 0, untilMoreMs: 300 };

interface Choices {
  readonly rate?: number;
  readonly instances?: number;
}

/** A limiter whose Redis answers what `answer` is, and does not answer when it is undefined. */
function onLink(t: TestContext, { rate = 10, instances = 2 }: Choices = {}) {
  const clock = { ms: 5_000 };
  t.mock.method(performance, 'now', () => clock.ms);
  const stage = {
    clock,
    answer: undefined as Decision | undefined,
    isAnswering: true,
    heldUntilMs: 0,
    asked: [] as [string, number][],
  };
  const link = {
    isAnswering: () => stage.isAnswering,
    instances: () => instances,
    heldUntilMs: () => stage.heldUntilMs,
    admit: async (key: string, ratePerSecond: number) => {
      stage.asked.push([key, ratePerSecond]);
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
  assert.equal(await admit(), stage.answer);
  stage.answer = refused;
  assert.equal(await admit(), stage.answer);
  assert.deepEqual(stage.asked, Array(2).fill(['partner-network:sandbox:brands:acme', 10]));
  assert.deepEqual(limiter.tallies, tallies(1, 1, 0, 0));
  assert.deepEqual([limiter.fallbacks(), limiter.ratePerSecond], [0, 10]);
});

test('without Redis an instance admits its share of the rate, and no more in a second', async (t) => {
  const { stage, limiter, admit } = onLink(t, { rate: 10, instances: 4 });
  stage.isAnswering = false;
  assert.deepEqual(await admit(), { isAdmitted: true, left: 1, untilMoreMs: 1_000 });
  stage.clock.ms += 100;
  assert.deepEqual(await admit(), { isAdmitted: true, left: 0, untilMoreMs: 900 });
  assert.deepEqual(await admit(), { isAdmitted: false, left: 0, untilMoreMs: 900 });
  stage.clock.ms += 900;
  assert.equal((await admit()).isAdmitted, true);
  assert.deepEqual(limiter.tallies, tallies(0, 0, 3, 1));
  assert.equal(limiter.fallbacks(), 4);
});

test('a share is one request at the least, however many instances there are', async (t) => {
  const { admit } = onLink(t, { rate: 2, instances: 5 });
  assert.equal((await admit()).isAdmitted, true);
  assert.equal((await admit()).isAdmitted, false);
});

test('for a second after Redis was heard, a share is of what was left, then of the rate', async (t) => {
  const { stage, admit } = onLink(t, { rate: 20, instances: 2 });
  stage.answer = admitted(5);
  await admit();
  stage.answer = undefined;
  stage.clock.ms += 400;
  assert.equal((await admit()).isAdmitted, true);
  assert.equal((await admit()).isAdmitted, true);
  assert.deepEqual(await admit(), { isAdmitted: false, left: 0, untilMoreMs: 600 });
  stage.clock.ms += 599;
  assert.deepEqual(await admit(), { isAdmitted: false, left: 0, untilMoreMs: 1 });
  stage.clock.ms += 1;
  // Two of the share of ten were admitted within the last second.
  assert.deepEqual(await admit(), { isAdmitted: true, left: 7, untilMoreMs: 400 });
});

test('what Redis admitted here counts against the share, and what it refused does not', async (t) => {
  const { stage, admit } = onLink(t, { rate: 8, instances: 2 });
  for (const answer of [admitted(7), refused, admitted(8), refused, admitted(8)]) {
    stage.answer = answer;
    await admit();
  }
  stage.answer = undefined;
  assert.deepEqual(await admit(), { isAdmitted: true, left: 0, untilMoreMs: 1_000 });
  assert.equal((await admit()).isAdmitted, false);
});

test('back from admitting alone, an instance keeps to its share for a while', async (t) => {
  const { stage, limiter, admit } = onLink(t, { rate: 4, instances: 2 });
  await admit();
  stage.answer = admitted(3);
  assert.equal(await admit(), stage.answer);
  const askedBefore = stage.asked.length;
  assert.deepEqual(await admit(), { isAdmitted: false, left: 0, untilMoreMs: 1_000 });
  assert.equal(stage.asked.length, askedBefore, 'Redis is not asked for what is over the share');
  assert.deepEqual(limiter.tallies, tallies(1, 0, 1, 1));

  stage.clock.ms += bounds.rateHoldMs - 1;
  assert.equal(await admit(), stage.answer);
  assert.equal(await admit(), stage.answer);
  assert.equal((await admit()).isAdmitted, false);
  stage.clock.ms += 1;
  assert.equal(await admit(), stage.answer, 'from here on Redis alone decides');
});

test('what Redis decides within the share counts once', async (t) => {
  const { stage, admit } = onLink(t, { rate: 8, instances: 2 });
  stage.heldUntilMs = 10_000;
  stage.answer = admitted(7);
  for (let request = 0; request < 4; request += 1) assert.equal(await admit(), stage.answer);
  assert.equal((await admit()).isAdmitted, false);
});

test('what Redis refuses within the share does not count', async (t) => {
  const { stage, admit } = onLink(t, { rate: 4, instances: 2 });
  stage.heldUntilMs = 10_000;
  stage.answer = refused;
  for (let request = 0; request < 5; request += 1) assert.equal(await admit(), refused);
  stage.answer = admitted(3);
  assert.equal(await admit(), stage.answer);
});

test('a Redis that may have forgotten holds its instances to their share until then', async (t) => {
  const { stage, admit } = onLink(t, { rate: 4, instances: 4 });
  stage.heldUntilMs = 5_500;
  stage.answer = admitted(3);
  assert.equal(await admit(), stage.answer);
  assert.equal((await admit()).isAdmitted, false);
  stage.clock.ms = 5_500;
  assert.equal(await admit(), stage.answer);
});

test('an instance that is missed Redis at that moment decides once, not twice', async (t) => {
  const { stage, admit } = onLink(t, { rate: 4, instances: 2 });
  stage.heldUntilMs = 10_000;
  stage.isAnswering = true;
  stage.answer = undefined;
  assert.deepEqual(await admit(), { isAdmitted: true, left: 1, untilMoreMs: 1_000 });
  assert.deepEqual(await admit(), { isAdmitted: true, left: 0, untilMoreMs: 1_000 });
  stage.isAnswering = false;
  assert.equal((await admit()).isAdmitted, false);
});

test('who was refused alone is not held back when Redis is there again', async (t) => {
  // By the share, which one that Redis admitted has used up; and by what Redis said was left.
  for (const first of [admitted(8), refused]) {
    const { stage, admit } = onLink(t, { rate: 2, instances: 2 });
    stage.answer = first;
    await admit();
    stage.answer = undefined;
    assert.deepEqual(await admit(), { isAdmitted: false, left: 0, untilMoreMs: 1_000 });
    stage.answer = admitted(1);
    assert.equal(await admit(), stage.answer);
    assert.equal(await admit(), stage.answer, 'over the share, and by Redis');
    t.mock.restoreAll();
  }
});

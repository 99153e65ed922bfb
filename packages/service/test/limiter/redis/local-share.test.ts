/** What an instance admits by itself while Redis is lost, on a clock and a link that the test controls. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Decision } from '../../../src/limiter/rate-limit.ts';
import { createRedisLimiter } from '../../../src/limiter/redis/link.ts';

const admitted: Decision = { isAdmitted: true, admitted: 1, left: 9, untilMoreMs: 1_000 };
const refused: Decision = { isAdmitted: false, admitted: 10, left: 0, untilMoreMs: 300 };
const local = (isAdmitted: boolean, admitted: number, left: number, untilMoreMs: number) => ({
  isAdmitted,
  admitted,
  left,
  untilMoreMs,
  source: 'local',
});

/** A limiter whose Redis decides `stage.decision`, and is lost while that is undefined. */
function onLink(t: TestContext, rate: number, instances: number) {
  const stage = {
    nowMs: 5_000,
    decision: undefined as Decision | undefined,
    instances,
    asked: [] as unknown[],
  };
  t.mock.method(performance, 'now', () => stage.nowMs);
  const link = {
    knownInstances: () => stage.instances,
    admit: async (...question: unknown[]) => {
      stage.asked.push(question);
      return stage.decision;
    },
    close: async () => {},
  };
  const limiter = createRedisLimiter(link, 'sandbox', 'brands', rate);
  const admit = async (partnerId = 'acme', ownRate = rate) => limiter.admit(partnerId, ownRate);
  const admitMany = async (count: number, ownRate = rate) => {
    const decisions = [];
    for (let request = 0; request < count; request += 1)
      decisions.push((await admit('acme', ownRate)).isAdmitted);
    return decisions.filter(Boolean).length;
  };
  return { stage, limiter, admit, admitMany };
}

test('without Redis an instance admits its share at once, and no more in any second', async (t) => {
  const { stage, limiter, admit } = onLink(t, 10, 4);
  assert.deepEqual(await admit(), local(true, 1, 1, 1_000));
  stage.nowMs += 100;
  assert.deepEqual(await admit(), local(true, 2, 0, 900));
  assert.deepEqual(await admit(), local(false, 2, 0, 900));
  assert.equal((await admit('zenith')).isAdmitted, true);
  stage.nowMs += 900;
  assert.deepEqual(await admit(), local(true, 2, 0, 100));
  assert.deepEqual(await admit(), local(false, 2, 0, 100));
  assert.deepEqual(limiter.tallies, [
    { source: 'redis', admitted: 0, refused: 0 },
    { source: 'local', admitted: 4, refused: 2 },
  ]);
});

test('a share is the rate divided by the known instances, rounded down, and at least 1', async (t) => {
  const { stage, admitMany } = onLink(t, 10, 1);
  for (const [instances, share] of [
    [1, 10],
    [2, 5],
    [3, 3],
    [10, 1],
    [11, 1],
    [1_000, 1],
  ] as const) {
    stage.nowMs += 1_000;
    stage.instances = instances;
    assert.equal(await admitMany(12), share, `${instances} instances`);
  }
  stage.nowMs += 1_000;
  stage.instances = 2;
  assert.equal(await admitMany(50, 80), 40, "the share of a partner's own rate");
});

test('admissions by Redis in the last second count against the share, refusals do not', async (t) => {
  const { stage, admit, admitMany } = onLink(t, 8, 2);
  for (const decision of [admitted, refused, admitted, refused, admitted]) {
    stage.decision = decision;
    await admit();
  }
  stage.decision = undefined;
  assert.equal(await admitMany(5), 1);
});

test('a partner over its share waits until fewer requests than the share count', async (t) => {
  const { stage, admit, admitMany } = onLink(t, 8, 4);
  stage.decision = admitted;
  for (let request = 0; request < 4; request += 1) {
    await admit();
    stage.nowMs += 100;
  }
  stage.decision = undefined;
  assert.deepEqual(await admit(), local(false, 4, 0, 800), 'until three of the four are past');
  stage.nowMs += 800;
  for (let second = 0; second < 5; second += 1) {
    assert.equal(await admitMany(1), 1);
    stage.decision = second % 2 === 0 ? admitted : undefined;
    stage.nowMs += 500;
  }
});

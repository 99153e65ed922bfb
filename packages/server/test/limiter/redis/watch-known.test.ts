/** What is known of the other instances, and what is not, when Redis is missed and when it is back. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limiterBounds } from '../../../src/bounds/limiter.ts';
import { onWatch, settle } from './watched.ts';

const windowMs = limiterBounds.rateWindowMs;

test('of one that was told where others are, nothing is known for a second, and Redis is held', async (t) => {
  const { clock, watch, stage, connect } = onWatch(t, 3);
  stage.instances = 1;
  await connect();
  assert.deepEqual([watch.instances(), watch.isAnswering()], [3, true]);
  assert.equal(watch.unknownUntilMs(), clock.ms + windowMs);
  assert.equal(watch.heldUntilMs(), clock.ms + limiterBounds.rateHoldMs);
});

test('what is not answered in time makes Redis missed at once, for as long as no heartbeat is', async (t) => {
  const { clock, watch, stage, heartbeats, connect, pass, told } = onWatch(t);
  stage.instances = 2;
  await connect();
  await pass(350);
  stage.instances = undefined;
  watch.miss();
  assert.equal(watch.isAnswering(), false);
  assert.equal(watch.unknownUntilMs(), clock.ms + windowMs);
  assert.equal(heartbeats.length, 2, 'it is asked at once whether it is back');
  watch.miss();
  assert.equal(heartbeats.length, 2, 'one at a time');
  await heartbeats[1]!.answer(2);
  assert.equal(watch.isAnswering(), true);
  // It is the same Redis, and was away for no longer than it takes to know all: nothing is held.
  assert.deepEqual([watch.unknownUntilMs(), watch.heldUntilMs(), told()], [0, 0, []]);
});

test('back after a second without a new connection, Redis knows what it admitted and is held', async (t) => {
  for (const [awayMs, isHeld] of [
    [windowMs - 1, false],
    [windowMs, true],
  ] as const) {
    await t.test(`${awayMs} ms`, async (t) => {
      const { clock, watch, stage, heartbeats, connect, pass } = onWatch(t);
      stage.instances = 2;
      await connect();
      await pass(50);
      stage.instances = undefined;
      watch.miss();
      await pass(awayMs - 19);
      // It is late, so that the next one is sent at once, and answered in time.
      await heartbeats[1]!.answer(2);
      assert.equal(watch.isAnswering(), false);
      await pass(19);
      await heartbeats[2]!.answer(2);
      assert.equal(watch.isAnswering(), true);
      assert.equal(watch.heldUntilMs(), isHeld ? clock.ms + limiterBounds.rateHoldMs : 0);
      assert.equal(watch.unknownUntilMs(), 0);
    });
  }
});

test('back by a new connection, Redis may have forgotten all: nothing is known for a second', async (t) => {
  const { clock, watch, stage, connect, close, pass } = onWatch(t);
  stage.instances = 2;
  await connect();
  await pass(100);
  await close();
  const closedMs = clock.ms;
  assert.equal(watch.isAnswering(), false);
  await pass(50);
  await connect();
  assert.equal(watch.isAnswering(), true);
  assert.equal(watch.unknownUntilMs(), closedMs + windowMs);
  assert.equal(watch.heldUntilMs(), clock.ms + limiterBounds.rateHoldMs);
  const heldUntilMs = watch.heldUntilMs();
  await pass(1_500);
  assert.equal(watch.heldUntilMs(), heldUntilMs, 'it is held for that time only');
  watch.miss();
  await settle();
  assert.equal(watch.unknownUntilMs(), 0, 'the connection is the known one now');
  assert.equal(watch.heldUntilMs(), heldUntilMs);
});

test('what is missed while Redis is missed already makes it no later', async (t) => {
  const { clock, watch, stage, connect, pass } = onWatch(t);
  stage.instances = 2;
  await connect();
  stage.instances = undefined;
  watch.miss();
  const missedMs = clock.ms;
  await pass(50);
  watch.miss();
  assert.equal(watch.unknownUntilMs(), missedMs + windowMs);
});

test('Redis is told that an instance decides alone when it was missed for a while', async (t) => {
  const { clock, watch, stage, heartbeats, connect, pass } = onWatch(t);
  stage.instances = 2;
  await connect();
  await pass(50);
  stage.instances = undefined;
  watch.miss();
  await pass(limiterBounds.redisProbeMs - 1);
  await heartbeats[1]!.answer(2);
  assert.deepEqual(
    heartbeats.map(({ isApart }) => isApart),
    [false, false, false],
    'most that are late are in time again the next time',
  );
  const unknownUntilMs = watch.unknownUntilMs();
  await pass(100);
  await heartbeats[2]!.answer(2);
  assert.equal(heartbeats[3]!.isApart, true);
  assert.equal(watch.unknownUntilMs(), unknownUntilMs, 'it is not told yet');

  await pass(30);
  await heartbeats[3]!.answer(2);
  const toldMs = clock.ms;
  assert.equal(watch.unknownUntilMs(), toldMs + windowMs, 'the others leave its share to it from now on');
  await pass(30);
  await heartbeats[4]!.answer(2);
  assert.deepEqual([heartbeats[4]!.isApart, watch.unknownUntilMs()], [true, toldMs + windowMs], 'told once');

  await heartbeats[5]!.answer(2);
  assert.deepEqual([watch.isAnswering(), watch.unknownUntilMs()], [true, 0]);
  // The next time it is told anew.
  watch.miss();
  await pass(150);
  await heartbeats[6]!.answer(2);
  await pass(30);
  await heartbeats[7]!.answer(2);
  assert.equal(watch.unknownUntilMs(), clock.ms + windowMs);
});

test('it is told so from a tenth of a second on', async (t) => {
  const { watch, stage, heartbeats, connect, pass } = onWatch(t);
  stage.instances = 2;
  await connect();
  await pass(50);
  stage.instances = undefined;
  watch.miss();
  await pass(limiterBounds.redisProbeMs);
  await heartbeats[1]!.answer(2);
  assert.equal(heartbeats[2]!.isApart, true);
});

test('more instances are believed at once, fewer when there were no more for a while', async (t) => {
  const { watch, stage, connect, pass } = onWatch(t);
  stage.instances = 2;
  await connect();
  stage.instances = 4;
  await pass(1_000);
  assert.equal(watch.instances(), 4);
  await pass(2_000);
  stage.instances = 3;
  await pass(limiterBounds.instanceStaleMs - 1);
  assert.equal(watch.instances(), 4);
  await pass(1);
  assert.equal(watch.instances(), 3);
  stage.instances = 2;
  await pass(2_500);
  assert.equal(watch.instances(), 3, 'fewer than that, again after a while only');
});

test('fewer are not believed of a connection that is new: the others may not be back yet', async (t) => {
  const { watch, stage, connect, close, pass } = onWatch(t);
  stage.instances = 4;
  await connect();
  await close();
  await pass(2 * limiterBounds.instanceStaleMs);
  stage.instances = 1;
  await connect();
  assert.equal(watch.instances(), 4);
  await pass(limiterBounds.instanceStaleMs);
  assert.equal(watch.instances(), 1);
});

test('one that slept while Redis was missed knows nothing of the others for a second', async (t) => {
  const { clock, watch, stage, connect, pass } = onWatch(t);
  stage.instances = 2;
  await connect();
  await pass(100);
  stage.instances = undefined;
  watch.miss();
  await pass(2 * windowMs);
  const knownMs = watch.unknownUntilMs();
  assert.ok(knownMs <= clock.ms);
  clock.ms += windowMs - 100;
  assert.equal(watch.unknownUntilMs(), knownMs, 'a moment is no sleep');
  clock.ms += 100;
  assert.equal(watch.unknownUntilMs(), clock.ms + windowMs);
  const awakeMs = clock.ms;
  await pass(200);
  assert.ok(watch.unknownUntilMs() >= awakeMs + windowMs && watch.unknownUntilMs() <= clock.ms + windowMs);
});

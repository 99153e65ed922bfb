/** When Redis counts as missed and as back, and what is known meanwhile: on a clock and a connection of our own. */
import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { type TestContext, test } from 'node:test';
import type { Redis } from 'ioredis';
import { bounds } from '../../src/bounds.ts';
import { inTime, reasonOf, watchRedis } from '../../src/limiter/redis-watch.ts';
import { watchedLog } from '../support/watch-logs.ts';

const windowMs = bounds.rateWindowMs;

/** Lets all that is settled be noticed, and what was put off to the end of a turn; timers stand still. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 2; turn += 1) await new Promise(setImmediate);
}

function onClock(t: TestContext, startMs = 50_000) {
  t.mock.timers.enable({ apis: ['setTimeout', 'setInterval'] });
  const clock = { ms: startMs };
  t.mock.method(performance, 'now', () => clock.ms);
  const pass = async (ms: number) => {
    const untilMs = clock.ms + ms;
    while (clock.ms < untilMs) {
      // In steps of 10 ms, to which all that happens by itself keeps.
      const stepMs = Math.min(10 - (clock.ms % 10), untilMs - clock.ms);
      clock.ms += stepMs;
      t.mock.timers.tick(stepMs);
      await settle();
    }
  };
  return { clock, pass };
}

interface Heartbeat {
  readonly atMs: number;
  readonly isApart: boolean;
  answer(instances: number): Promise<void>;
  fail(error: Error): Promise<void>;
}

/** A watch of a Redis that answers heartbeats at once while `stage.instances` is set, and by hand otherwise. */
function onWatch(t: TestContext, fewest = 1) {
  const { clock, pass } = onClock(t);
  const stage = { instances: undefined as number | undefined, reconnects: [] as [number, boolean][] };
  const heartbeats: Heartbeat[] = [];
  const redis = Object.assign(new EventEmitter(), {
    status: 'connecting',
    disconnect: (isToReconnect: boolean) => stage.reconnects.push([clock.ms, isToReconnect]),
  });
  const heartbeat = (isApart: boolean): Promise<number> => {
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    heartbeats.push({
      atMs: clock.ms,
      isApart,
      answer: async (instances) => {
        resolve(instances);
        await settle();
      },
      fail: async (error) => {
        reject(error);
        await settle();
      },
    });
    if (stage.instances !== undefined) resolve(stage.instances);
    return promise;
  };
  const { log, logs } = watchedLog();
  const watch = watchRedis(redis as unknown as Redis, heartbeat, fewest, log);
  t.after(watch.stop);
  const connect = async () => {
    redis.emit('connect');
    redis.status = 'ready';
    redis.emit('ready');
    await settle();
  };
  const close = async () => {
    redis.status = 'close';
    redis.emit('close');
    await settle();
  };
  const told = () =>
    logs()
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line))
      .map(({ level, reason, msg }) => [level, reason, msg]);
  return { clock, pass, stage, heartbeats, redis, watch, connect, close, told };
}

const missed = (reason: string) => [
  40,
  reason,
  'Redis does not answer: each instance admits its share of the rates',
];
const back = [30, undefined, 'Redis answers again'];

test('Redis is there from its first answer on, which is asked for as soon as there is a connection', async (t) => {
  const { clock, watch, heartbeats, connect, told } = onWatch(t);
  assert.equal(watch.isAnswering(), false);
  await connect();
  assert.equal(watch.isAnswering(), false);
  await heartbeats[0]!.answer(1);
  assert.equal(watch.isAnswering(), true);
  await watch.settled;
  assert.deepEqual([heartbeats.length, heartbeats[0]!.isApart], [1, false]);
  assert.deepEqual([watch.instances(), watch.unknownUntilMs(), watch.heldUntilMs()], [1, 0, 0]);
  assert.deepEqual([clock.ms, told()], [50_000, []]);
});

test('a start waits for Redis for a second, and then says once that it is missed', async (t) => {
  const { pass, watch, told } = onWatch(t);
  let isSettled = false;
  void watch.settled.then(() => (isSettled = true));
  await pass(bounds.redisConnectMs - 1);
  assert.equal(isSettled, false);
  await pass(1);
  assert.equal(isSettled, true);
  await pass(5_000);
  assert.deepEqual(told(), [missed('no answer')]);
});

test('a start does not wait for a Redis that is plainly not there, and says why it is missed', async (t) => {
  const { redis, watch, close, told, stage, connect } = onWatch(t);
  redis.emit('error', Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }));
  await close();
  await watch.settled;
  assert.deepEqual(told(), [missed('ECONNREFUSED')]);
  stage.instances = 1;
  await connect();
  assert.deepEqual(told(), [missed('ECONNREFUSED'), back]);
});

test('a reason is of the last time that Redis was missed, not of one before', async (t) => {
  const { redis, watch, stage, connect, pass, told } = onWatch(t);
  stage.instances = 1;
  redis.emit('error', new Error('LOADING Redis is loading'));
  await connect();
  stage.instances = undefined;
  watch.miss();
  await pass(5_000);
  assert.deepEqual(told(), [missed('no answer')]);
});

test('of one that was told where others are, nothing is known for a second, and Redis is held', async (t) => {
  const { clock, watch, stage, connect } = onWatch(t, 3);
  stage.instances = 1;
  await connect();
  assert.deepEqual([watch.instances(), watch.isAnswering()], [3, true]);
  assert.equal(watch.unknownUntilMs(), clock.ms + windowMs);
  assert.equal(watch.heldUntilMs(), clock.ms + bounds.rateHoldMs);
});

test('a heartbeat is sent every second while Redis answers, and none when it is stopped', async (t) => {
  const { watch, stage, heartbeats, connect, pass } = onWatch(t);
  stage.instances = 1;
  await connect();
  await pass(3_000);
  assert.deepEqual(
    heartbeats.map(({ atMs, isApart }) => [atMs, isApart]),
    [50_000, 51_000, 52_000, 53_000].map((ms) => [ms, false]),
  );
  watch.stop();
  await pass(3_000);
  watch.miss();
  assert.equal(heartbeats.length, 4);
});

test('while Redis is missed it is asked ten times a second, if there is a connection', async (t) => {
  const { watch, redis, stage, heartbeats, connect, close, pass } = onWatch(t);
  await pass(500);
  assert.equal(heartbeats.length, 0, 'there is no connection yet');
  stage.instances = 1;
  await connect();
  await close();
  const before = heartbeats.length;
  await pass(500);
  assert.equal(heartbeats.length, before);
  redis.status = 'ready';
  await pass(100);
  assert.equal(heartbeats.length, before + 1);
  assert.equal(watch.isAnswering(), true);
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
      assert.equal(watch.heldUntilMs(), isHeld ? clock.ms + bounds.rateHoldMs : 0);
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
  assert.equal(watch.heldUntilMs(), clock.ms + bounds.rateHoldMs);
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

test('a heartbeat that is late counts, but Redis is back only when one is in time', async (t) => {
  const { watch, stage, heartbeats, connect, pass } = onWatch(t);
  stage.instances = 1;
  await connect();
  stage.instances = undefined;
  await pass(1_000);
  assert.equal(heartbeats.length, 2);
  await pass(bounds.redisBudgetMs - 1);
  assert.equal(watch.isAnswering(), true);
  await pass(1);
  assert.equal(watch.isAnswering(), false);
  await pass(200);
  assert.equal(heartbeats.length, 2, 'one at a time');
  await heartbeats[1]!.answer(4);
  assert.deepEqual([watch.isAnswering(), watch.instances(), heartbeats.length], [false, 4, 3]);
  await heartbeats[2]!.answer(4);
  assert.equal(watch.isAnswering(), true);
});

test('a heartbeat that fails makes Redis missed, and is tried again at the next look', async (t) => {
  const { watch, stage, heartbeats, connect, pass, told } = onWatch(t);
  stage.instances = 1;
  await connect();
  stage.instances = undefined;
  await pass(1_000);
  await heartbeats[1]!.fail(new Error('NOAUTH Authentication required.'));
  assert.deepEqual([watch.isAnswering(), heartbeats.length], [false, 2]);
  assert.deepEqual(told(), []);
  await pass(100);
  assert.equal(heartbeats.length, 3);
  assert.deepEqual(told(), [missed('NOAUTH')]);
});

test('Redis is told that an instance decides alone when it was missed for a while, not at once', async (t) => {
  const { clock, watch, stage, heartbeats, connect, pass } = onWatch(t);
  stage.instances = 2;
  await connect();
  await pass(50);
  stage.instances = undefined;
  watch.miss();
  await pass(bounds.redisProbeMs - 1);
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

test('a connection on which nothing comes back for a second is made anew', async (t) => {
  const { watch, stage, heartbeats, connect, close, pass, told } = onWatch(t);
  stage.instances = 1;
  await connect();
  await pass(50);
  stage.instances = undefined;
  watch.miss();
  await pass(949);
  assert.deepEqual(told(), []);
  await pass(1);
  assert.deepEqual(told(), [missed('no answer')], 'a second after it was last heard of');
  await pass(99);
  assert.deepEqual(stage.reconnects, []);
  await pass(1);
  assert.deepEqual(stage.reconnects, [[51_100, true]], 'a second after it was asked');
  await pass(500);
  assert.equal(stage.reconnects.length, 1, 'once');
  await close();
  await heartbeats[1]!.fail(new Error('Connection is closed.'));
  stage.instances = 1;
  await connect();
  assert.deepEqual(told(), [missed('no answer'), back]);
  await pass(5_000);
  assert.equal(stage.reconnects.length, 1);
});

test('so is one that never gets ready, and one that is closed owes nothing', async (t) => {
  const { redis, stage, close, pass } = onWatch(t);
  redis.emit('connect');
  await pass(500);
  await close();
  await pass(1_500);
  assert.deepEqual(stage.reconnects, []);
  redis.emit('connect');
  await pass(999);
  assert.deepEqual(stage.reconnects, []);
  await pass(1);
  assert.deepEqual(stage.reconnects, [[53_000, true]]);
});

test('more instances are believed at once, fewer when there were no more for a while', async (t) => {
  const { watch, stage, connect, pass } = onWatch(t);
  stage.instances = 2;
  await connect();
  stage.instances = 4;
  await pass(1_000);
  assert.equal(watch.instances(), 4);
  stage.instances = 3;
  await pass(bounds.instanceStaleMs - 1);
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
  await pass(2 * bounds.instanceStaleMs);
  stage.instances = 1;
  await connect();
  assert.equal(watch.instances(), 4);
  await pass(bounds.instanceStaleMs);
  assert.equal(watch.instances(), 1);
});

test('the reason is the kind of an error and no more', () => {
  const kinds: [unknown, string][] = [
    [Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:1'), { code: 'ECONNREFUSED' }), 'ECONNREFUSED'],
    [new Error('WRONGPASS invalid username-password pair: secret'), 'WRONGPASS'],
    [new Error('OK'), 'OK'],
    [new Error('A word of one letter'), 'no answer'],
    [new Error('MOVEDx'), 'no answer'],
    [new Error('said NOAUTH'), 'no answer'],
    [{}, 'no answer'],
  ];
  for (const [error, reason] of kinds) assert.equal(reasonOf(error), reason);
});

test('an answer in time is one, an error is none, and what is overdue is told and none', async (t) => {
  const { pass } = onClock(t);
  const overdue: string[] = [];
  const results: [string, unknown][] = [];
  const ask = (name: string, answer: Promise<number>) =>
    void inTime(answer, () => overdue.push(name)).then((result) => results.push([name, result]));
  const late = Promise.withResolvers<number>();
  const inTheNickOfTime = Promise.withResolvers<number>();
  ask('at once', Promise.resolve(1));
  ask('error', Promise.reject(new Error('no')));
  ask('late', late.promise);
  ask('in time', inTheNickOfTime.promise);
  await settle();
  assert.deepEqual(results, [
    ['at once', 1],
    ['error', undefined],
  ]);
  await pass(bounds.redisBudgetMs - 1);
  inTheNickOfTime.resolve(2);
  await settle();
  assert.deepEqual([results[2], overdue], [['in time', 2], []]);
  await pass(1);
  late.resolve(3);
  await pass(100);
  assert.deepEqual([results[3], overdue], [['late', undefined], ['late']]);
  assert.equal(results.length, 4);
});

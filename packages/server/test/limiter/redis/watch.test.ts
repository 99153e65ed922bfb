/** When Redis counts as missed and as back, and what is told of it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limiterBounds } from '../../../src/bounds/limiter.ts';
import { inTime, reasonOf } from '../../../src/limiter/redis/watch.ts';
import { onClock, onWatch, settle } from './watched.ts';

const missed = (reason: string) => [
  40,
  reason,
  'Redis does not answer: each instance admits its share of the rates',
];
const back = [30, undefined, 'Redis answers again'];

test('Redis is there from its first answer on, and is asked as soon as it can be', async (t) => {
  const { clock, watch, heartbeats, connect, told } = onWatch(t);
  assert.deepEqual([watch.isAnswering(), watch.unknownUntilMs()], [false, 0]);
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
  await pass(limiterBounds.redisConnectMs - 1);
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

test('a heartbeat that is late counts, but Redis is back only when one is in time', async (t) => {
  const { watch, stage, heartbeats, connect, pass } = onWatch(t);
  stage.instances = 1;
  await connect();
  stage.instances = undefined;
  await pass(1_000);
  assert.equal(heartbeats.length, 2);
  await pass(limiterBounds.redisBudgetMs - 1);
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
  await pass(limiterBounds.redisBudgetMs - 1);
  inTheNickOfTime.resolve(2);
  await settle();
  assert.deepEqual([results[2], overdue], [['in time', 2], []]);
  await pass(1);
  late.resolve(3);
  await pass(100);
  assert.deepEqual([results[3], overdue], [['late', undefined], ['late']]);
  assert.equal(results.length, 4);
});

test('an answer that lies in the socket when its time is over is not missed', async (t) => {
  onClock(t);
  let isOverdue = false;
  const answer = Promise.withResolvers<number>();
  const taken = inTime(answer.promise, () => (isOverdue = true));
  t.mock.timers.tick(limiterBounds.redisBudgetMs);
  answer.resolve(2);
  await settle();
  assert.deepEqual([await taken, isOverdue], [2, false]);
});

/** The states of the link to Redis, and what goes over its connection. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { limiterBounds } from '../../../../common/src/bounds/service.ts';
import { needsOwnRedis, redisClient, startRedis } from '../../../../testkit/servers/redis.ts';
import { watchedLog } from '../../../../testkit/watch/logs.ts';
import { inTime } from '../../../src/limiter/redis/client.ts';
import { instancesKey, openRedisLink } from '../../../src/limiter/redis/link.ts';
import { parseRedisUrl } from '../../../src/limiter/redis/url.ts';
import { settle, startFakeRedis, stopClock } from './fake-redis.ts';

const { heartbeatMs, redisBudgetMs, redisProbeMs, redisReconnectMs, redisSilenceMs } = limiterBounds;
const lost = (reason: string) => [
  40,
  reason,
  'Redis does not answer; this instance admits its share of the rates',
];
const back = [30, undefined, 'Redis answers again'];

async function openLink(t: TestContext, url: string, minInstances = 1) {
  const { log, lines } = watchedLog();
  const link = await openRedisLink(parseRedisUrl(url)!, 'sandbox', minInstances, log);
  t.after(link.close);
  const logged = () => lines().map(({ level, reason, msg }) => [level, reason, msg]);
  return { link, logged };
}

/** A link in the state `answering`, on a stopped clock. */
async function openAnswering(t: TestContext, minInstances = 1) {
  const redis = await startFakeRedis(t);
  const pass = stopClock(t);
  const opened = await openLink(t, redis.url, minInstances);
  const count = (command: string) => redis.received.filter((name) => name === command).length;
  const isAnswering = async () => (await opened.link.admit('log', 10)) !== undefined;
  assert.ok(await isAnswering());
  return { ...opened, redis, pass, isAnswering, count };
}

/** Sends requests to a Redis that no longer replies, and waits until their time is over. */
async function loseRedis({ link, redis, pass }: Awaited<ReturnType<typeof openAnswering>>): Promise<void> {
  redis.freeze();
  const decisions = [link.admit('log', 10), link.admit('log', 10)];
  await pass(redisBudgetMs);
  assert.deepEqual(await Promise.all(decisions), [undefined, undefined]);
}

test('a heartbeat a second reports the instances, which are at least the set number', async (t) => {
  const { link, redis, pass, count, logged } = await openAnswering(t, 2);
  assert.deepEqual([count('heartbeat'), link.knownInstances()], [1, 2]);
  redis.replies.heartbeat = ':5';
  await pass(heartbeatMs - 10);
  assert.deepEqual([count('heartbeat'), link.knownInstances()], [1, 2]);
  await pass(10);
  assert.deepEqual([count('heartbeat'), link.knownInstances()], [2, 5]);
  // One at a time: a heartbeat is left out while the last one has no reply yet.
  for (const reply of [':5', ':5', ':3']) {
    redis.replies.heartbeat = reply;
    await pass(heartbeatMs);
  }
  assert.deepEqual([count('heartbeat'), link.knownInstances()], [5, 3]);
  assert.deepEqual(logged(), []);
});

test('a restarted Redis that does not count all instances yet does not raise the share of one', async (t) => {
  const { link, redis, pass, isAnswering } = await openAnswering(t);
  redis.replies.heartbeat = ':4';
  await pass(4 * heartbeatMs);
  redis.hangUp();
  redis.replies.heartbeat = ':1';
  await pass(redisReconnectMs + 2 * redisProbeMs);
  assert.deepEqual([await isAnswering(), link.knownInstances()], [true, 4]);
  await pass(2 * heartbeatMs);
  assert.equal(link.knownInstances(), 4);
  await pass(heartbeatMs);
  assert.equal(link.knownInstances(), 1);
});

test('a reply that our script never gives is not a decision, and does not lose Redis', async (t) => {
  const { link, redis } = await openAnswering(t);
  const strange = ['+OK', ':1', '$-1', '-ERR no', '*2\r\n:1\r\n:2', '*4\r\n:1\r\n:2\r\n:3\r\n:4', '*0'];
  for (const reply of [...strange, '*3\r\n:1\r\n$1\r\na\r\n:3', '*3\r\n:1\r\n:2\r\n$-1']) {
    redis.replies.admit = reply;
    assert.equal(await link.admit('log', 10), undefined, reply);
  }
  for (const isAdmitted of [true, false]) {
    redis.replies.admit = `*3\r\n:${isAdmitted ? 1 : 0}\r\n:7\r\n:2500`;
    assert.deepEqual(await link.admit('log', 10), { isAdmitted, admitted: 3, left: 7, untilMoreMs: 2.5 });
  }
});

test('after one late reply no request waits for Redis, until a heartbeat is in time', async (t) => {
  const scene = await openAnswering(t);
  const { redis, pass, isAnswering, count, logged } = scene;
  await loseRedis(scene);
  const [requests, heartbeats] = [count('admit'), count('heartbeat')];
  assert.equal(await isAnswering(), false);
  await pass(4 * (redisProbeMs + redisBudgetMs));
  assert.equal(await isAnswering(), false);
  assert.deepEqual([count('admit'), count('heartbeat')], [requests, heartbeats + 4]);
  redis.thaw();
  await settle();
  assert.equal(await isAnswering(), false, 'these replies are late');
  await pass(2 * redisProbeMs);
  assert.equal(await isAnswering(), true);
  assert.deepEqual(logged(), [], 'an outage under a second is not logged');
});

test('a reply that is already in the socket when its time is over is not late', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const reply = Promise.withResolvers<number>();
  const taken = inTime(reply.promise, () => assert.fail('late'));
  t.mock.timers.tick(redisBudgetMs);
  reply.resolve(2);
  assert.equal(await taken, 2);
});

test('a heartbeat that fails loses Redis, and an outage of a second is logged with its reason', async (t) => {
  const { redis, pass, isAnswering, logged } = await openAnswering(t);
  const { heartbeat } = redis.replies;
  redis.replies.heartbeat = '-READONLY You cannot write against a read only replica.';
  await pass(heartbeatMs);
  assert.equal(await isAnswering(), false);
  await pass(redisSilenceMs - redisProbeMs);
  assert.deepEqual(logged(), []);
  await pass(3 * redisSilenceMs);
  assert.deepEqual(logged(), [lost('READONLY')], 'once');
  redis.replies.heartbeat = heartbeat;
  await pass(2 * redisProbeMs);
  assert.deepEqual([await isAnswering(), logged()], [true, [lost('READONLY'), back]]);
  redis.freeze();
  await pass(heartbeatMs + 2 * redisSilenceMs);
  assert.deepEqual(logged(), [lost('READONLY'), back, lost('no answer')], 'not the earlier reason');
});

test('a silent connection is closed after a second, and the next one opened a second later', async (t) => {
  const scene = await openAnswering(t);
  const { redis, pass, isAnswering } = scene;
  await loseRedis(scene);
  await pass(redisSilenceMs + redisReconnectMs - redisBudgetMs - 10);
  assert.equal(redis.connections(), 1);
  redis.thaw();
  await pass(10 + 2 * redisProbeMs);
  assert.deepEqual([redis.connections(), await isAnswering()], [2, true]);
});

test('a connection that closes loses Redis, and the next one is opened after a second', async (t) => {
  const { redis, pass, isAnswering, logged } = await openAnswering(t);
  redis.hangUp();
  await settle();
  assert.equal(await isAnswering(), false);
  await pass(redisReconnectMs - 10);
  assert.deepEqual([redis.connections(), await isAnswering()], [1, false]);
  await pass(10 + 2 * redisProbeMs);
  assert.deepEqual([redis.connections(), await isAnswering()], [2, true]);
  const before = logged().length;
  redis.freeze();
  redis.hangUp();
  await pass(redisSilenceMs + redisProbeMs);
  assert.deepEqual(logged().slice(before), [lost('no answer')], 'a second after the connection closed');
});

for (const state of ['answering', 'lost'] as const) {
  test(`a link that is ${state} and closes leaves the instances, and sends nothing after that`, async (t) => {
    const scene = await openAnswering(t);
    const { link, redis, pass, isAnswering, logged } = scene;
    if (state === 'lost') await loseRedis(scene);
    redis.freeze();
    // A heartbeat is on its way, and the time for its reply ends while the link closes.
    await pass(state === 'lost' ? redisProbeMs : heartbeatMs);
    const closing = link.close();
    await pass(redisBudgetMs);
    await closing;
    assert.deepEqual(redis.received.slice(-2), ['heartbeat', 'zrem']);
    redis.thaw();
    await pass(3 * heartbeatMs);
    assert.equal(await isAnswering(), false);
    assert.deepEqual([redis.received.at(-1), redis.connections(), logged()], ['zrem', 1, []]);
  });
}

async function onRedis(t: TestContext) {
  const { url } = await startRedis(t);
  // From here on no reply is late, even on a busy machine.
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { link } = await openLink(t, url);
  return { link, url, client: redisClient(t, url) };
}

test('Redis decides by the rate, and keeps admissions two seconds', needsOwnRedis, async (t) => {
  const { link, client } = await onRedis(t);
  const first = await link.admit('log', 2);
  assert.deepEqual(first, {
    isAdmitted: true,
    admitted: 1,
    left: 1,
    untilMoreMs: limiterBounds.rateWindowMs,
  });
  const second = await link.admit('log', 2);
  assert.deepEqual([second!.isAdmitted, second!.left], [true, 0]);
  const third = await link.admit('log', 2);
  assert.deepEqual([third!.isAdmitted, third!.left], [false, 0]);
  assert.ok(third!.untilMoreMs > 0 && third!.untilMoreMs < limiterBounds.rateWindowMs);
  const lifeMs = await client.pttl('log');
  assert.ok(lifeMs > limiterBounds.rateWindowMs && lifeMs <= limiterBounds.redisLogLifeMs, `${lifeMs} ms`);
});

test('an instance counts while it lives, and not once it closed or died', needsOwnRedis, async (t) => {
  const { link, url, client } = await onRedis(t);
  const instances = instancesKey('sandbox');
  assert.equal(instances, 'partner-network:sandbox:instances');
  const nowMicros = Date.now() * 1_000;
  await client.zadd(instances, nowMicros, 'alive');
  await client.zadd(instances, nowMicros - limiterBounds.instanceStaleMs * 1_000, 'dead');
  await client.zadd(instances, nowMicros + 60_000_000, 'of a clock that was ahead');
  const second = await openLink(t, url);
  assert.equal(second.link.knownInstances(), 3);
  const lifeMs = await client.pttl(instances);
  assert.ok(lifeMs > 0 && lifeMs <= limiterBounds.instanceStaleMs);
  await second.link.close();
  await link.close();
  assert.deepEqual(await client.zrange(instances, '0', '-1'), ['alive']);
});

/** What goes over the connection to Redis, and what is taken from it. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { type TestContext, test } from 'node:test';
import { until } from '../../../../testkit/fixtures/until.ts';
import { needsOwnRedis, redisClient, startRedis } from '../../../../testkit/servers/redis.ts';
import { watchedLog } from '../../../../testkit/watch/logs.ts';
import { limiterBounds } from '../../../src/bounds/limiter.ts';
import { instancesKey, openRedisLink, optionsOf, type RedisLink } from '../../../src/limiter/redis/link.ts';
import { parseRedisUrl } from '../../../src/limiter/redis/url.ts';

const { log } = watchedLog();
const instances = 'partner-network:sandbox:instances';
const apart = 'partner-network:sandbox:apart';

test('it is connected to as its address says, soon again, and what was not sent is sent never', () => {
  const address = parseRedisUrl('rediss://user:secret@cache.example:7000/4')!;
  const { retryStrategy, scripts, ...options } = optionsOf(address);
  assert.deepEqual(options, {
    ...{ host: 'cache.example', port: 7_000, username: 'user', password: 'secret', db: 4, tls: {} },
    ...{ enableOfflineQueue: false, autoResendUnfulfilledCommands: false, maxRetriesPerRequest: 0 },
    ...{ connectTimeout: limiterBounds.redisConnectMs, disconnectTimeout: limiterBounds.redisDisconnectMs },
    ...{ enableReadyCheck: false, disableClientInfo: true, protocol: 2 },
  });
  assert.deepEqual([1, 3, 10, 11].map(retryStrategy!), [50, 150, 500, 500]);
  assert.deepEqual(Object.keys(scripts!), ['admit', 'heartbeat']);
  assert.ok(!('tls' in optionsOf({ ...address, isEncrypted: false })));
});

async function linkTo(t: TestContext, url: string): Promise<RedisLink> {
  const link = await openRedisLink(parseRedisUrl(url)!, 'sandbox', 1, log);
  t.after(link.close);
  await until(3_000, link.isAnswering);
  return link;
}

/** From here on nothing is late, however busy the machine is. */
function stopTime(t: TestContext): void {
  t.mock.timers.enable({ apis: ['setTimeout'] });
}

/** Something that answers the first heartbeat as Redis does, and all else with `answer`. */
async function startStranger(t: TestContext) {
  const stage = { answer: ':1\r\n', received: '' };
  const server = createServer((socket) => {
    socket.on('data', (data) => {
      stage.received += String(data);
      // A script is sent by its digest, and one that is not known there as a whole.
      for (const _ of String(data).matchAll(/evalsha|eval\b|zrem/gi)) socket.write(stage.answer);
    });
    socket.on('error', () => {});
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  return { stage, url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

test('whatever else something answers is no decision', async (t) => {
  const { stage, url } = await startStranger(t);
  const link = await linkTo(t, url);
  stopTime(t);
  const answers = ['+OK', ':1', '$-1', '-ERR no', '*2\r\n:1\r\n:2', '*4\r\n:1\r\n:2\r\n:3\r\n:4', '*0'];
  for (const answer of [...answers, '*3\r\n:1\r\n$1\r\na\r\n:3', '*3\r\n:1\r\n:2\r\n$-1']) {
    stage.answer = `${answer}\r\n`;
    assert.equal(await link.admit('log', 10, 10), undefined, answer);
  }
  assert.ok(link.isAnswering(), 'it was in time');
  for (const [answer, isAdmitted] of [
    ['*3\r\n:1\r\n:7\r\n:2500', true],
    ['*3\r\n:0\r\n:7\r\n:2500', false],
  ] as const) {
    stage.answer = `${answer}\r\n`;
    assert.deepEqual(await link.admit('log', 10, 10), { isAdmitted, left: 7, untilMoreMs: 2.5 });
  }
});

test('where Redis is missed nothing is sent to it', async (t) => {
  const { stage, url } = await startStranger(t);
  const link = await linkTo(t, url);
  stage.answer = '';
  assert.equal(await link.admit('log:1', 10, 10), undefined);
  assert.equal(link.isAnswering(), false);
  assert.equal(await link.admit('log:2', 10, 10), undefined);
  // It is the last that is sent.
  await link.close();
  await until(3_000, () => stage.received.includes('zrem'));
  assert.deepEqual(
    ['log:1', 'log:2'].map((key) => stage.received.includes(key)),
    [true, false],
  );
});

async function onRedis(t: TestContext) {
  const { url } = await startRedis(t);
  const client = redisClient(t, url);
  const link = await linkTo(t, url);
  stopTime(t);
  return { link, client };
}

const outcomeOf = async (link: RedisLink, rate: number, share: number) => {
  const decision = await link.admit('log', rate, share);
  return [decision?.isAdmitted, decision?.left];
};

test(
  'Redis decides by the rate, in milliseconds, and keeps an admission for two seconds',
  needsOwnRedis,
  async (t) => {
    const { link, client } = await onRedis(t);
    const first = await link.admit('log', 2, 1);
    assert.deepEqual(first, { isAdmitted: true, left: 1, untilMoreMs: limiterBounds.rateWindowMs });
    const second = await link.admit('log', 2, 1);
    assert.deepEqual([second!.isAdmitted, second!.left], [true, 0]);
    const third = await link.admit('log', 2, 1);
    assert.deepEqual([third!.isAdmitted, third!.left], [false, 0]);
    assert.ok(third!.untilMoreMs > 0 && third!.untilMoreMs < limiterBounds.rateWindowMs);
    const lifeMs = await client.pttl('log');
    assert.ok(lifeMs > limiterBounds.rateWindowMs && lifeMs <= limiterBounds.redisLogLifeMs, `${lifeMs} ms`);
  },
);

test(
  'of the rate, others that decide alone take their share, and this one does not',
  needsOwnRedis,
  async (t) => {
    const { link, client } = await onRedis(t);
    const [self] = await client.zrange(instances, '0', '-1');
    const [later, past] = [Date.now() * 1_000 + 60_000_000, Date.now() * 1_000 - 60_000_000];
    await client.zadd(apart, later, self!);
    await client.zadd(apart, past, 'back');
    assert.deepEqual(await outcomeOf(link, 10, 3), [true, 9]);
    await client.zadd(apart, later, 'other');
    assert.deepEqual(await outcomeOf(link, 10, 3), [true, 5]);
  },
);

test('an instance is known while it lives, and not when it has closed', needsOwnRedis, async (t) => {
  const { link, client } = await onRedis(t);
  assert.deepEqual([instancesKey('sandbox'), link.instances()], [instances, 1]);
  assert.equal(await client.zcard(instances), 1);
  assert.ok((await client.pttl(instances)) <= limiterBounds.instanceStaleMs);
  assert.equal(await client.exists(apart), 0);
  assert.deepEqual([link.unknownUntilMs(), link.heldUntilMs()], [0, 0]);
  await link.close();
  assert.equal(await client.zcard(instances), 0);
});

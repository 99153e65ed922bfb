import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createServer } from 'node:tls';
import { inspectRedis } from '../../../service/src/limiter/redis/inspect.ts';
import { parseRedisUrl } from '../../../service/src/limiter/redis/url.ts';
import { toCreate } from '../../../store/src/address.ts';
import { openSqlite } from '../../../store/src/sqlite/open.ts';
import { temporaryFolder } from '../../../testkit/fixtures/lifetime.ts';
import { freePort } from '../../../testkit/servers/free-port.ts';
import { needsOwnRedis, redisClient, startRedis, startRedisCluster } from '../../../testkit/servers/redis.ts';
import { migratedDatabase } from '../../../testkit/service/database.ts';
import { judgeInstances } from '../../src/doctor/database.ts';
import { selfSigned } from '../images/certificate.ts';
import { assertFinding, findingsOf, serveAs } from './examined.ts';

async function embedded(t: TestContext): Promise<string[]> {
  const path = join(temporaryFolder(t), 'test.db');
  await openSqlite(path, 'production', toCreate).close();
  return ['--database', `sqlite:${path}`];
}

test('reports a Redis that cannot be reached, without its password', async (t) => {
  const url = `redis://:s3cret@127.0.0.1:${await freePort()}`;
  const { redis } = await findingsOf([...(await embedded(t)), '--redis', url]);
  assertFinding(redis!, 'failed', /^Redis at \S+ cannot be used \(ECONNREFUSED\)/, /Start Redis/);
});

test('says how to trust the authority of a Redis', async (t) => {
  const server = createServer(selfSigned('localhost')).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const url = `rediss://localhost:${(server.address() as AddressInfo).port}`;
  const { redis } = await findingsOf([...(await embedded(t)), '--redis', url]);
  assertFinding(redis!, 'failed', /_CERT\)/, /NODE_EXTRA_CA_CERTS/);
});

test('reports a Redis that evicts keys, is read-only, or denies access', needsOwnRedis, async (t) => {
  const own = await startRedis(t);
  const admin = redisClient(t, own.url);
  const flags = await embedded(t);
  const redisOf = async (url = own.url) => (await findingsOf([...flags, '--redis', url])).redis!;
  assertFinding(await redisOf(), 'ok', /answers/);
  assert.equal(await admin.dbsize(), 0, 'nothing was written');

  await admin.config('SET', 'maxmemory-policy', 'allkeys-lru');
  assertFinding(await redisOf(), 'ok', /answers/);
  await admin.config('SET', 'maxmemory', '100mb');
  assertFinding(await redisOf(), 'warning', /evicts keys .*allkeys-lru/, /noeviction/);

  assertFinding(await redisOf(`${own.url}/99`), 'failed', /\(ERR\)/, /database number may not exist/);
  await admin.replicaof('127.0.0.1', 1);
  assertFinding(await redisOf(), 'failed', /is a replica/, /its primary/);
  await admin.replicaof('NO', 'ONE');

  await admin.call('ACL', 'SETUSER', 'weak', 'on', '>s3cret', '+info', '+zcard', '~*');
  const weak = await redisOf(`redis://weak:s3cret@127.0.0.1:${own.port}`);
  assertFinding(weak, 'failed', /NOPERM/, /Allow its user to run/);

  await admin.config('SET', 'requirepass', 's3cret');
  assertFinding(await redisOf(), 'failed', /NOAUTH/, /Add the password/);
  const wrong = await redisOf(`redis://:wr0ng@127.0.0.1:${own.port}`);
  assertFinding(wrong, 'failed', /WRONGPASS/, /Correct the user and password/);
  assert.doesNotMatch(JSON.stringify(wrong), /wr0ng/);
});

test('asks each node of a Redis Cluster, and counts the instances in it', needsOwnRedis, async (t) => {
  const { url, nodes } = await startRedisCluster(t, 2);
  const single = await startRedis(t);
  const flags = await embedded(t);
  const redisOf = async (redis: string) => (await findingsOf([...flags, '--redis', redis])).redis!;
  const [one, two] = nodes.map(({ port }) => `Redis at 127.0.0.1:${port}`);
  const healthy = await redisOf(url);
  assertFinding(healthy, 'ok', /^Redis at \S+ answers\. Redis at \S+ answers\.$/);
  assert.ok([one, two].every((node) => healthy.detail.includes(node!)));
  assert.deepEqual(await Promise.all(nodes.map(({ ask }) => ask('DBSIZE'))), [0, 0], 'nothing was written');
  await Promise.any(nodes.map(({ ask }) => ask('ZADD', 'partner-network:sandbox:instances', 1, 'first')));
  assert.equal((await inspectRedis(parseRedisUrl(url)!, 'sandbox')).instances, 1);

  const node = await redisOf(nodes[0]!.url);
  assertFinding(node, 'failed', /is a node of a Redis Cluster/, /redis-cluster:\/\/HOST/);
  const notOne = await redisOf(`redis-cluster://127.0.0.1:${single.port}`);
  assertFinding(notOne, 'failed', /^Redis Cluster at \S+ cannot be used \(ERR\)/, /may name a single Redis/);

  await nodes[1]!.kill();
  const lost = await redisOf(url);
  assertFinding(lost, 'failed', new RegExp(`${two} cannot be used \\(ECONNREFUSED`), /Start Redis/);
  await nodes[0]!.ask('CLUSTER', 'DELSLOTS', 7);
  assertFinding(await redisOf(url), 'failed', /1 of 16384 slots have no node/, /--cluster fix/);
  await nodes[0]!.kill();
  assertFinding(await redisOf(url), 'failed', /^Redis Cluster at .* cannot be used/);
});

test('says whether no, one or several instances share the rate limit', () => {
  const noRedis = undefined;
  const by = (instances: number) => ({ instances });
  for (const [count, redis, status, said] of [
    [0, noRedis, 'ok', 'No instance serves this database now'],
    [0, by(0), 'ok', 'No instance serves this database now'],
    [1, noRedis, 'ok', '1 instance serves this database now, so no Redis is needed'],
    [1, by(0), 'warning', '1 instance serves this database now, but not with this Redis'],
    [1, by(1), 'ok', '1 instance serves this database now, with this Redis'],
    [1, {}, 'skipped', '1 instance .* now\\. The instances that use this Redis cannot be counted'],
    [2, noRedis, 'failed', '2 instances .* now, each with .* get up to 2 times the rate'],
    [2, by(0), 'warning', '2 instances .* now, but none of them with this Redis'],
    [3, by(1), 'warning', '3 instances .* now, but only 1 of them with this Redis'],
  ] as const) {
    assertFinding(judgeInstances(count, redis), status, new RegExp(`^${said}\\.$`));
  }
});

test('reports instances that use another Redis than the others', needsOwnRedis, async (t) => {
  const { url: redis } = await startRedis(t);
  const url = await migratedDatabase(t);
  for (const instance of ['first', 'second']) await serveAs(t, url, instance);
  const admin = redisClient(t, redis);
  const instances = async () =>
    (await findingsOf(['--database', url, '--environment', 'sandbox', '--redis', redis])).instances!;
  await admin.zadd('partner-network:sandbox:instances', 1, 'first');
  assertFinding(await instances(), 'warning', /^2 instances .*only 1 of them with this/, /the same --redis/);
  await admin.zadd('partner-network:sandbox:instances', 1, 'second');
  assertFinding(await instances(), 'ok', /^2 instances serve this database now, with this Redis/);
});

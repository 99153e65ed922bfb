/** The rate over several instances that share a Redis Cluster, while nodes are lost and slots move. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { until } from '../../../../testkit/fixtures/lifetime.ts';
import { mostWithinASecond, type Span } from '../../../../testkit/fixtures/spans.ts';
import { type ClusterNode, needsOwnRedis, startRedisCluster } from '../../../../testkit/servers/redis.ts';
import type { Decided } from '../../../src/limiter/rate-limit.ts';
import { openLimiter, openLimiterInstances, type TestLimiter } from './limiters.ts';

type Timed = Decided & Span;

const rate = 50;
const keyOf = (partner: string) => `partner-network:sandbox:brands:${partner}`;

/** The slot of a partner, and the node that has it at the start. */
async function placeOf(nodes: readonly ClusterNode[], partner: string) {
  const slot = Number(await nodes[0]!.ask('CLUSTER', 'KEYSLOT', keyOf(partner)));
  return { slot, node: nodes[Math.floor((slot * nodes.length) / 16_384)]! };
}

/** For each node, a partner whose window it has. */
async function partnersOf(nodes: readonly ClusterNode[]): Promise<string[]> {
  const found = new Map<ClusterNode, string>();
  for (let number = 0; found.size < nodes.length; number += 1) {
    const { node } = await placeOf(nodes, `p${number}`);
    if (!found.has(node)) found.set(node, `p${number}`);
  }
  return nodes.map((node) => found.get(node)!);
}

/** Sends requests of every partner to every limiter, five times the rate, until it is stopped. */
function load(t: TestContext, limiters: readonly TestLimiter[], partners: readonly string[]) {
  const decided = new Map(partners.map((partner) => [partner, [] as Timed[]]));
  const pending: Promise<unknown>[] = [];
  const timer = setInterval(() => {
    for (const limiter of limiters) {
      for (const [partner, decisions] of decided) {
        pending.push(limiter.timed(partner).then((decision) => decisions.push(decision)));
      }
    }
  }, 8);
  t.after(() => clearInterval(timer));
  return {
    of: (partner: string) => decided.get(partner)!,
    stop: async () => {
      clearInterval(timer);
      await Promise.all(pending);
    },
  };
}

/** Moves a slot with its keys, as redis-cli does. Waits in the middle, where requests are redirected. */
async function moveSlot(slot: number, from: ClusterNode, to: ClusterNode, inTheMiddle: () => Promise<void>) {
  await to.ask('CLUSTER', 'SETSLOT', slot, 'IMPORTING', from.id);
  await from.ask('CLUSTER', 'SETSLOT', slot, 'MIGRATING', to.id);
  const keys = (await from.ask('CLUSTER', 'GETKEYSINSLOT', slot, 100)) as string[];
  if (keys.length > 0) {
    await from.ask('MIGRATE', '127.0.0.1', to.port, '', 0, 1_000, 'KEYS', ...keys);
  }
  await inTheMiddle();
  for (const node of [to, from]) await node.ask('CLUSTER', 'SETSLOT', slot, 'NODE', to.id);
}

const byRedis = (decided: readonly Timed[], sinceMs = 0) =>
  decided.filter(({ source, sentMs }) => source === 'redis' && sentMs >= sinceMs);
const admitted = (decided: readonly Timed[]) => decided.filter(({ isAdmitted }) => isAdmitted);

type Cluster = Awaited<ReturnType<typeof startRedisCluster>>;

async function loseOneAndMoveSlots(t: TestContext, { url, nodes }: Cluster): Promise<void> {
  const [first, second, third] = nodes as [ClusterNode, ClusterNode, ClusterNode];
  const partners = await partnersOf(nodes);
  const [moved, kept, orphaned] = partners as [string, string, string];
  const limiters = await openLimiterInstances(t, url, 2);
  const { of, stop } = load(t, limiters, partners);
  const untilRedisDecides = async (partner: string) => {
    const nowMs = performance.now();
    await until(20_000, () => byRedis(of(partner), nowMs).length > 2 * rate);
  };
  await Promise.all(partners.map(untilRedisDecides));

  await third.kill();
  const lostMs = performance.now();
  const { slot } = await placeOf(nodes, moved);
  await moveSlot(slot, first, second, () => untilRedisDecides(moved));
  await Promise.all([moved, kept].map(untilRedisDecides));
  assert.equal(await second.ask('EXISTS', keyOf(moved)), 1, 'the window lives on the other node');
  await until(20_000, () => of(orphaned).at(-1)!.sentMs > lostMs + 2_000);
  const backMs = performance.now();
  await third.start();
  await untilRedisDecides(orphaned);
  await stop();

  for (const partner of partners) {
    const most = mostWithinASecond(admitted(byRedis(of(partner))));
    const share = byRedis(of(partner)).length / of(partner).length;
    t.diagnostic(`${partner}: ${most} in the fullest second, ${Math.round(share * 100)} % decided by Redis`);
    assert.ok(most <= rate && most > rate / 2, `${partner}: ${most}`);
  }
  const alone = of(orphaned).filter(
    ({ sentMs, receivedMs }) => sentMs > lostMs + 1_000 && receivedMs < backMs,
  );
  assert.ok(alone.length > 0 && alone.every(({ source }) => source === 'local'));
  const most = mostWithinASecond(admitted(alone));
  assert.ok(most > 0 && most <= rate, `${most} by the shares of both`);
}

async function startWithout(t: TestContext, { url, nodes }: Cluster): Promise<void> {
  await Promise.all(nodes.map((node) => node.kill()));
  const limiter = await openLimiter(t, url.replace('//', '//user:secret@'), { instances: 2 });
  const decided = await Promise.all(Array.from({ length: rate }, () => limiter.timed('p')));
  assert.equal(admitted(decided).length, rate / 2, 'its share of two instances');
  await until(20_000, () => limiter.lines().length > 0);
  // Time to log it again: it connects once a second.
  await wait(1_200);
  const logged = limiter.lines().map(({ level, reason, node }) => [level, reason, typeof node]);
  assert.deepEqual(logged, [[40, 'ECONNREFUSED', 'string']]);

  await Promise.all(nodes.map((node) => node.start()));
  await Promise.all(nodes.map(({ ask }) => ask('ACL', 'SETUSER', 'user', 'on', '>secret', '~*', '+@all')));
  await until(20_000, () => limiter.logs().includes('Redis answers again'));
  // On a busy machine Redis may answer too late.
  await until(20_000, async () => (await limiter.admit('p')).source === 'redis');
  assert.ok(!limiter.logs().includes('secret'));
}

test('on a cluster of three nodes', needsOwnRedis, async (t) => {
  const cluster = await startRedisCluster(t, 3);
  await t.test('a lost node takes only its partners with it, and a slot that moves keeps its windows', (t) =>
    loseOneAndMoveSlots(t, cluster),
  );
  await t.test('absent at the start: serves without it, logs that once, and uses it when it comes', (t) =>
    startWithout(t, cluster),
  );
});

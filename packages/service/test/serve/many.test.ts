/** The rate limit of one partner over several `serve` processes that share a Redis. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { keys } from '../../../testkit/fixtures/fixture.ts';
import { assertUnavailable } from '../../../testkit/fixtures/http.ts';
import type { Lifetime } from '../../../testkit/fixtures/lifetime.ts';
import { longRunOnly } from '../../../testkit/fixtures/long-run.ts';
import { fixtureLine, metricOf, type ServedSandbox, serveSandbox } from '../../../testkit/fixtures/served.ts';
import { mostWithinASecond, type Span } from '../../../testkit/fixtures/spans.ts';
import { until } from '../../../testkit/fixtures/until.ts';
import { needsOwnRedis, type OwnRedis, startRedis } from '../../../testkit/servers/redis.ts';

const rate = 50;
const longWithOwnRedis = { ...needsOwnRedis, skip: needsOwnRedis.skip || longRunOnly };

interface Called extends Span {
  readonly status: number;
}

async function serveMany(t: Lifetime, redis: OwnRedis, count: number): Promise<ServedSandbox[]> {
  const { database } = await fixtureLine(t);
  const servers = Array.from({ length: count }, () => serveSandbox(t, database, ['--redis', redis.url]));
  return Promise.all(servers);
}

async function untilInstancesAre(servers: readonly ServedSandbox[], count: number): Promise<void> {
  for (const { operationsUrl } of servers) {
    await until(
      20_000,
      async () => (await metricOf(operationsUrl, 'partner_network_limiter_instances')) === count,
    );
  }
}

/** Calls the servers in turn, evenly, until it is stopped. It does not catch up after a stall. */
function startCalls(servers: readonly ServedSandbox[], perSecond: number) {
  const calls: Promise<Called>[] = [];
  const batch = Math.ceil(perSecond / 100);
  let longestStallMs = 0;
  let isStopped = false;
  const calling = (async () => {
    while (!isStopped) {
      for (let call = 0; call < batch; call += 1)
        calls.push(callOnce(servers[calls.length % servers.length]!));
      const sentMs = performance.now();
      await wait((1_000 * batch) / perSecond);
      longestStallMs = Math.max(longestStallMs, performance.now() - sentMs);
    }
  })();
  return async (): Promise<{ calls: Called[]; longestStallMs: number }> => {
    isStopped = true;
    await calling;
    return { calls: await Promise.all(calls), longestStallMs };
  };
}

async function callOnce({ brands }: ServedSandbox): Promise<Called> {
  const sentMs = performance.now();
  const answer = await brands('?limit=1', { key: keys.acme });
  if (answer.status === 503) assertUnavailable(answer);
  return { sentMs, receivedMs: performance.now(), status: answer.status };
}

/**
 * The admitted calls. All others must be 429. On a machine that is too busy some are 503: not more than the
 * servers' own count of shed requests.
 */
async function admittedOf(servers: readonly ServedSandbox[], calls: readonly Called[]): Promise<Called[]> {
  const others = calls.filter(({ status }) => status !== 200 && status !== 429);
  assert.ok(others.every(({ status }) => status === 503));
  const shed = await sumOf(servers, 'partner_network_requests_shed_total');
  assert.ok(others.length <= shed, `${others.length} were answered 503, and ${shed} shed`);
  return calls.filter(({ status }) => status === 200).sort((a, b) => a.receivedMs - b.receivedMs);
}

async function sumOf(servers: readonly ServedSandbox[], name: string, labels?: string): Promise<number> {
  const values = await Promise.all(servers.map(({ operationsUrl }) => metricOf(operationsUrl, name, labels)));
  return values.reduce((sum, value) => sum + value, 0);
}

/**
 * Calls at `times` the rate, after a second at the rate itself. That second spreads the admissions, so that
 * a stall of this machine costs a few of them and not all. No second may have more admissions than the rate.
 * The average must be the rate if Redis was never lost and the calls were not held up. It is lower on a busy
 * machine.
 */
async function assertExact(t: TestContext, servers: readonly ServedSandbox[], times: number): Promise<void> {
  const stopFirst = startCalls(servers, rate);
  await wait(1_000);
  const first = await stopFirst();
  const floodMs = performance.now();
  const stopFlood = startCalls(servers, times * rate);
  await wait(3_000);
  const { calls, longestStallMs } = await stopFlood();
  const admitted = await admittedOf(servers, [...first.calls, ...calls]);
  const sinceFlood = admitted.filter(({ receivedMs }) => receivedMs > floodMs);
  const average = sinceFlood.length / ((sinceFlood.at(-1)!.receivedMs - floodMs) / 1_000);
  const most = mostWithinASecond(admitted);
  const local = await sumOf(
    servers,
    'partner_network_limiter_decisions_total',
    'source="local",outcome="admitted"',
  );
  t.diagnostic(
    `${calls.length} calls, ${average.toFixed(2)} admitted a second, ${most} in the fullest second`,
  );
  t.diagnostic(
    `${local} admitted without Redis, the longest stall of the calls was ${Math.round(longestStallMs)} ms`,
  );
  assert.ok(most <= rate + local, `${most} in a second`);
  const isIdleMachine = local === 0 && longestStallMs < 50 && calls.every(({ status }) => status !== 503);
  assert.ok(average >= (isIdleMachine ? 48 : 30), `${average} a second`);
}

test(
  'many times the allowed load on four servers gets the rate, no more and no less',
  longWithOwnRedis,
  async (t) => {
    const servers = await serveMany(t, await startRedis(t), 4);
    await assertExact(t, servers, 20);
  },
);

test(
  'a partner within its share sees no 429 when Redis dies, hangs and returns',
  longWithOwnRedis,
  async (t) => {
    const redis = await startRedis(t);
    const servers = await serveMany(t, redis, 2);
    await untilInstancesAre(servers, 2);
    // A share is 25 on each server. The load is 15 on each, so that a short stall does not exceed it.
    const stop = startCalls(servers, 30);
    const untilDecidedBy = async (source: 'redis' | 'local') => {
      const decisions = () => sumOf(servers, 'partner_network_limiter_decisions_total', `"${source}"`);
      const before = await decisions();
      await until(20_000, async () => (await decisions()) > before + 30);
    };
    await untilDecidedBy('redis');
    for (const [lose, restore] of [
      [redis.kill, redis.start],
      [redis.freeze, redis.thaw],
    ] as const) {
      await lose();
      await untilDecidedBy('local');
      await wait(1_500);
      await restore();
      await untilDecidedBy('redis');
    }
    const { calls } = await stop();
    const refused = calls.filter(({ status }) => status !== 200);
    t.diagnostic(`${calls.length} calls, ${refused.length} not admitted`);
    assert.deepEqual(refused, []);

    await redis.kill();
    for (const { operationsUrl, signal, ended, texts } of servers) {
      const fallbacks = 'partner_network_limiter_fallbacks_total';
      assert.ok((await metricOf(operationsUrl, fallbacks, 'operation="brands"')) > 30);
      assert.match(texts().stdout, /Redis does not answer.*Redis answers again/s);
      signal('SIGTERM');
      assert.equal(await ended, 0, 'a server without Redis ends as usual');
    }
  },
);

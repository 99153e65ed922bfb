/** The rate limit of one partner over several `serve` processes that share a Redis. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { fillFixture, keys } from '../../../testkit/fixtures/fixture.ts';
import { assertUnavailable, type Caller, createCaller } from '../../../testkit/fixtures/http.ts';
import type { Lifetime } from '../../../testkit/fixtures/lifetime.ts';
import { commandLine, type Running, start } from '../../../testkit/fixtures/run.ts';
import { mostWithinASecond, type Span } from '../../../testkit/fixtures/spans.ts';
import { until } from '../../../testkit/fixtures/until.ts';
import { needsOwnRedis, type OwnRedis, startRedis } from '../../../testkit/servers/redis.ts';

const rate = 50;

interface Server extends Running {
  readonly caller: Caller;
  /** The sum of a metric's values whose labels contain this text. */
  metric(name: string, labels?: string): Promise<number>;
}

interface Called extends Span {
  readonly status: number;
}

async function serveMany(t: Lifetime, redis: OwnRedis, count: number): Promise<Server[]> {
  const line = commandLine(t);
  await line.inside(fillFixture, 'sandbox');
  const flags = ['--database', line.database, '--environment', 'sandbox', '--redis', redis.url];
  const ports = ['--port', '0', '--ops-port', '0', '--drain-delay', '0'];
  const words = ['serve', ...flags, ...ports];
  return Promise.all(Array.from({ length: count }, () => serveOne(t, words)));
}

async function serveOne(t: Lifetime, words: string[]): Promise<Server> {
  const running = start(t, words);
  const said = await running.says('stderr', /listening on (\S+), operations on (\S+)\.$/m);
  const caller = createCaller(Number(new URL(said[1]!).port));
  t.after(() => caller.disconnect());
  return {
    ...running,
    caller,
    metric: async (name, labels = '') => {
      const text = await (await fetch(`${said[2]}/metrics`)).text();
      const lines = text.split('\n').filter((read) => read.startsWith(name) && read.includes(labels));
      return lines.reduce((sum, read) => sum + Number(read.split(' ').at(-1)), 0);
    },
  };
}

async function untilInstancesAre(servers: readonly Server[], count: number): Promise<void> {
  for (const { metric } of servers) {
    await until(8_000, async () => (await metric('partner_network_limiter_instances')) === count);
  }
}

/** Calls the servers in turn, evenly, until it is stopped. It does not catch up after a stall. */
function startCalls(servers: readonly Server[], perSecond: number) {
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

async function callOnce({ caller }: Server): Promise<Called> {
  const sentMs = performance.now();
  const answer = await caller.brands('?limit=1', { key: keys.acme });
  if (answer.status === 503) assertUnavailable(answer);
  return { sentMs, receivedMs: performance.now(), status: answer.status };
}

/**
 * The admitted calls. All others must be 429. On a machine that is too busy some are 503: not more than the
 * servers' own count of shed requests.
 */
async function admittedOf(servers: readonly Server[], calls: readonly Called[]): Promise<Called[]> {
  const others = calls.filter(({ status }) => status !== 200 && status !== 429);
  assert.ok(others.every(({ status }) => status === 503));
  const shed = await sumOf(servers, 'partner_network_requests_shed_total');
  assert.ok(others.length <= shed, `${others.length} were answered 503, and ${shed} shed`);
  return calls.filter(({ status }) => status === 200).sort((a, b) => a.receivedMs - b.receivedMs);
}

async function sumOf(servers: readonly Server[], name: string, labels?: string): Promise<number> {
  const values = await Promise.all(servers.map(({ metric }) => metric(name, labels)));
  return values.reduce((sum, value) => sum + value, 0);
}

/**
 * Calls at `times` the rate, after a second at the rate itself. That second spreads the admissions, so that
 * a stall of this machine costs a few of them and not all. No second may have more admissions than the rate.
 * The average must be the rate if Redis was never lost and the calls were not held up. It is lower on a busy
 * machine.
 */
async function assertExact(t: TestContext, servers: readonly Server[], times: number): Promise<void> {
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
  assert.ok(average >= (isIdleMachine ? 49.5 : 30), `${average} a second`);
}

test(
  'many times the allowed load on four servers gets the rate, no more and no less',
  needsOwnRedis,
  async (t) => {
    const servers = await serveMany(t, await startRedis(t), 4);
    await assertExact(t, servers, 20);
  },
);

test('a server that hangs or dies takes nothing of the rate with it', needsOwnRedis, async (t) => {
  const servers = await serveMany(t, await startRedis(t), 3);
  const [hanging, dying, last] = servers as [Server, Server, Server];
  await untilInstancesAre(servers, 3);
  hanging.signal('SIGSTOP');
  dying.signal('SIGKILL');
  await assertExact(t, [last], 10);
  await untilInstancesAre([last], 1);
});

test(
  'a partner within its share sees no 429 when Redis dies, hangs and returns',
  needsOwnRedis,
  async (t) => {
    const redis = await startRedis(t);
    const servers = await serveMany(t, redis, 2);
    await untilInstancesAre(servers, 2);
    // A share is 25 on each server. The load is 15 on each, so that a short stall of a server is no excess.
    const stop = startCalls(servers, 30);
    const untilDecidedBy = async (source: 'redis' | 'local') => {
      const decisions = () => sumOf(servers, 'partner_network_limiter_decisions_total', `"${source}"`);
      const before = await decisions();
      await until(5_000, async () => (await decisions()) > before + 30);
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
    for (const { metric, signal, ended, texts } of servers) {
      assert.ok((await metric('partner_network_limiter_fallbacks_total', 'operation="brands"')) > 30);
      assert.match(texts().stdout, /Redis does not answer.*Redis answers again/s);
      signal('SIGTERM');
      assert.equal(await ended, 0, 'a server without Redis ends as usual');
    }
  },
);

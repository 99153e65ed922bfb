/** What happens to requests when there are more than can be answered in time. */
import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { test } from 'node:test';
import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';
import { httpBounds, overloadBounds } from '../../common/src/bounds/http.ts';
import { readMetrics } from '../../common/src/observability/metric.ts';
import { answersIn, assertRefused } from '../../testkit/fixtures/http.ts';
import { until } from '../../testkit/fixtures/lifetime.ts';
import { pluck } from '../../testkit/fixtures/pluck.ts';
import { watchedLog } from '../../testkit/watch/logs.ts';
import { startHealth } from '../src/health.ts';
import { createShedResponses, Overload } from '../src/overload.ts';
import { brands, head, heldPage, pageAfter, shortFile, startSite } from './site.ts';

const { log: silent } = watchedLog();

function shedOf({ metrics }: Overload): Record<string, number> {
  return Object.fromEntries(metrics[0]!.read().map(({ labels, value }) => [labels.reason, value]));
}

const allShed = (overload: Overload) => Object.values(shedOf(overload)).reduce((sum, count) => sum + count);

function underWayOf({ metrics }: Overload): Record<string, number> {
  return Object.fromEntries(metrics[1]!.read().map(({ labels, value }) => [labels.state, value]));
}

function answerTo(sent: unknown[], name: unknown): ServerResponse {
  return { destroyed: false, writeHead: () => sent.push(name), end: () => {} } as unknown as ServerResponse;
}

test('a request that waits too long gets a 503 with an error record; the next one is served', async (t) => {
  const overload = new Overload(1, silent);
  const { routes, release } = heldPage();
  const { call } = await startSite(t, { overload, routes });
  const admitted = Array.from({ length: 3 }, () => call(brands));
  await until(20_000, () => underWayOf(overload).answering === overloadBounds.requestsPerDatabaseConnection);
  // All at once: the admitted requests must not wait so long that they get a 503, too.
  const methods = ['GET', 'HEAD', 'OPTIONS', 'POST'];
  const refused = await Promise.all(methods.map((method) => call(brands, { method })));
  for (const [index, answer] of refused.entries()) {
    assert.equal(answer.headers['retry-after'], String(httpBounds.retryAfterSeconds));
    if (methods[index] === 'HEAD') assert.deepEqual([answer.status, answer.text], [503, '']);
    else assertRefused(answer, 503, 'SERVICE_UNAVAILABLE');
  }
  assert.deepEqual(shedOf(overload), { loop: 0, requests: methods.length, partner: 0 });
  release();
  assert.deepEqual(pluck(await Promise.all(admitted), 'status'), [200, 200, 200]);
  await until(20_000, () => underWayOf(overload).answering === 0);
  assert.equal((await call(brands)).status, 200);
});

test('a shed request counts for its operation; an ambiguous request closes its connection', async (t) => {
  const { call, raw, requests } = await startSite(t, { overload: new Overload(0, silent) });
  const ambiguous = `${head()}Host: b\r\n\r\n`;
  const answers = [
    ...[call(`${brands}?limit=1`), call('/network/v1/balances', { method: 'HEAD' })],
    ...[call('/nowhere'), call(shortFile)],
  ];
  assert.deepEqual(answersIn(await raw(ambiguous + ambiguous)), ['503 SERVICE_UNAVAILABLE']);
  for (const { status } of await Promise.all(answers)) assert.equal(status, 503);
  const counted = requests.metrics[0]!.read().filter(({ labels }) => labels.code === 'SERVICE_UNAVAILABLE');
  assert.deepEqual(
    counted.map(({ labels, value }) => [labels.operation, labels.status, value]),
    [
      ['listBrands', '503', 2],
      ['listBalances', '503', 1],
      ['other', '503', 2],
    ],
  );
});

test('operators are answered while clients are not', async (t) => {
  const overload = new Overload(1, silent);
  const { routes, release } = heldPage();
  const { call } = await startSite(t, { overload, routes });
  const read = async () => readMetrics(overload.metrics);
  const health = await startHealth('127.0.0.1', 0, async () => [], read, silent);
  t.after(health.close);
  const waiting = Array.from({ length: 5 }, () => call(brands));
  await until(20_000, () => underWayOf(overload).answering === overloadBounds.requestsPerDatabaseConnection);
  for (const path of ['/healthz', '/readyz']) assert.equal((await fetch(health.url + path)).status, 200);
  const metrics = await (await fetch(`${health.url}/metrics`)).text();
  assert.match(metrics, /^partner_network_requests_under_way\{state="answering"\} 3$/m);
  assert.match(metrics, /^partner_network_requests_shed_total\{reason="requests"\} \d+$/m);
  release();
  await Promise.all(waiting);
});

test('a partner with slow pages leaves connections and places to other partners', async (t) => {
  const overload = new Overload(4, silent);
  const held = Promise.withResolvers<void>();
  // The query names the partner.
  const route = pageAfter(({ query }) =>
    overload.withinShare(query, async () => query === 'slow' && held.promise),
  );
  const { call } = await startSite(t, { overload, routes: { [brands]: route } });
  const slow = Array.from({ length: 16 }, () => call(`${brands}?slow`));
  // All except the two that work have waited too long.
  await until(20_000, () => allShed(overload) === 14);
  assert.ok(shedOf(overload).partner! > 0);
  assert.deepEqual(underWayOf(overload), { answering: 2, waiting: 0 });
  for (let times = 0; times < 2; times += 1) assert.equal((await call(`${brands}?other`)).status, 200);
  held.resolve();
  const statuses = pluck(await Promise.all(slow), 'status');
  assert.equal(statuses.filter((status) => status === 200).length, 2);
});

test('a busy event loop begins requests one by one, and sheds those that waited too long', async () => {
  let now = 0;
  const overload = new Overload(10, silent, () => now);
  const begun: number[] = [];
  const sent: unknown[] = [];
  for (let request = 0; request < 20; request += 1) {
    overload.begin(answerTo(sent, request), async () => {
      begun.push(request);
      now += 45;
    });
  }
  assert.deepEqual(begun, [0], 'it took longer than a turn may');
  while (underWayOf(overload).waiting! > 0) await nextTurn();
  // The others came at 45 ms: after 150 ms more they are shed.
  assert.deepEqual(begun, [0, 1, 2, 3, 4]);
  assert.deepEqual(
    sent,
    Array.from({ length: 15 }, (_, index) => index + 5),
  );
  assert.deepEqual(shedOf(overload), { loop: 15, requests: 0, partner: 0 });

  await nextTurn();
  overload.begin(answerTo(sent, 20), async () => void begun.push(20));
  assert.equal(begun.at(-1), 20, 'back to normal');
});

test('a burst that can be answered in time is answered in order', async () => {
  const overload = new Overload(10, silent, () => 0);
  const begun: number[] = [];
  const all = Array.from({ length: 500 }, (_, request) => request);
  for (const request of all) {
    overload.begin(answerTo([], request), async () => {
      await nextTurn();
      begun.push(request);
    });
  }
  await until(20_000, () => begun.length === all.length);
  assert.deepEqual(begun, all);
});

test('a request whose client hangs up while it waits is neither served nor answered', async () => {
  let now = 0;
  const overload = new Overload(10, silent, () => now);
  const begun: string[] = [];
  const sent: unknown[] = [];
  const begin = (name: string, response = answerTo(sent, name)) =>
    overload.begin(response, async () => {
      begun.push(name);
      now += overloadBounds.turnMs + 1;
    });
  begin('first');
  begin('gone', { ...answerTo(sent, 'gone'), destroyed: true } as ServerResponse);
  begin('last');
  while (underWayOf(overload).waiting! > 0) await nextTurn();
  assert.deepEqual([begun, sent, shedOf(overload).loop], [['first', 'last'], [], 0]);
});

test('above shedPerSecond, 503s are delayed, and by shedHoldMs at most', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let now = 0;
  const pass = (ms: number) => {
    now += ms;
    t.mock.timers.tick(ms);
  };
  const sendShed = createShedResponses(() => now);
  const sent: unknown[] = [];
  const count = overloadBounds.shedBurst + 2 * overloadBounds.shedPerSecond;
  for (let client = 0; client < count; client += 1) sendShed(answerTo(sent, client));
  assert.equal(sent.length, overloadBounds.shedBurst);
  pass(overloadBounds.shedHoldMs - 1);
  const paced = sent.length - overloadBounds.shedBurst;
  const affordable = (overloadBounds.shedPerSecond * overloadBounds.shedHoldMs) / 1_000;
  assert.ok(paced > 0.9 * affordable && paced <= affordable, `${paced} of ${affordable}`);
  pass(1);
  assert.deepEqual(
    sent,
    Array.from({ length: count }, (_, client) => client),
  );
});

test('a client that hangs up while its 503 is delayed gets nothing', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const sendShed = createShedResponses(() => 0);
  const sent: unknown[] = [];
  for (let client = 0; client < overloadBounds.shedBurst; client += 1) sendShed(answerTo([], client));
  sendShed({ ...answerTo(sent, 'gone'), destroyed: true } as ServerResponse);
  sendShed(answerTo(sent, 'here'));
  t.mock.timers.tick(overloadBounds.shedHoldMs);
  assert.deepEqual(sent, ['here']);
});

test('the log has a line when shedding begins, and a line with the count when it ends', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'setImmediate'] });
  let now = 0;
  const { log, logs } = watchedLog();
  const overload = new Overload(1, log, () => now);
  const admitted = overloadBounds.requestsPerDatabaseConnection + overloadBounds.requestsWaiting;
  for (let times = 0; times < admitted + 100; times += 1) {
    overload.begin(answerTo([], times), () => new Promise(() => {}));
  }
  assert.match(logs(), /^\{"level":40,.*"reason":"requests".*\n$/);
  // First, the requests that wait are shed, too.
  for (let turn = 0; turn < 2; turn += 1) {
    now += 2 * overloadBounds.sheddingQuietMs;
    t.mock.timers.tick(2 * overloadBounds.sheddingQuietMs);
  }
  const counted = `"requests":${overloadBounds.requestsWaiting + 100},"duration_ms":2000`;
  assert.match(logs(), new RegExp(`\n\\{"level":30,.*${counted},"msg":"shedding is over".*\n$`));
});

test('the wait for a turn counts as a part of the response time', async (t) => {
  let passedMs = 0;
  const nowMs = performance.now.bind(performance);
  t.mock.method(performance, 'now', () => nowMs() + passedMs);
  const overload = new Overload(1, silent);
  t.mock.method(overload, 'begin', (_response: unknown, work: () => Promise<void>) => {
    passedMs += httpBounds.answerMs;
    void work();
  });
  const route = pageAfter(() => wait(httpBounds.answerMs / 4));
  const { call, lines, requests } = await startSite(t, { overload, routes: { [brands]: route } });
  assertRefused(await call(brands), 503, 'SERVICE_UNAVAILABLE');
  const { duration_ms } = lines().at(-1);
  assert.ok(duration_ms >= httpBounds.answerMs, `${duration_ms} ms`);
  const duration = requests.metrics.find(({ name }) => name.endsWith('request_duration_seconds'))!;
  const seconds = duration.read().find(({ labels, part }) => labels.outcome === 'failed' && part === 'sum');
  assert.ok(seconds!.value >= httpBounds.answerMs / 1_000, `${seconds!.value} s`);
});

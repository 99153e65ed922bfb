/** A worker is killed or frozen under load, and returns. */
import assert from 'node:assert/strict';
import { before, suite, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { openLifetime } from '../../../packages/testkit/fixtures/lifetime.ts';
import { requestsShed } from '../../../packages/testkit/fixtures/served.ts';
import type { PostgresServer } from '../../../packages/testkit/servers/postgres.ts';
import { assertRecovered, longestMs, type Sample, startLoad, summaryOf } from './scene/load.ts';
import { type Stage, startStage } from './scene/stage.ts';

type Act = (worker: PostgresServer) => Promise<void> | void;

let started: Promise<Stage> | undefined;

/** Reads both listings from both workers while one of them is away. */
async function loseWorker(awayMs: number, lose: Act, bringBack: Act) {
  started ??= startStage();
  const stage = await started;
  await using lifetime = openLifetime();
  const { port, operationsUrl, signal, ended } = await stage.serve(lifetime);
  const worker = stage.cluster.workers[0]!;
  const loads = [startLoad(port, stage.on(worker)), startLoad(port, stage.notOn(worker))] as const;
  await wait(2_000);
  const shedBefore = await requestsShed(operationsUrl, 'loop');
  const beginMs = performance.now();
  await lose(worker);
  const lostMs = performance.now();
  const sessions = await sessionsOf(stage);
  await wait(awayMs);
  const closed = sessions.difference(await sessionsOf(stage));
  const unwritten = await withoutReceipt(stage, loads[1].samples, performance.now() - 1_500);
  const hostMs = Math.max(...loads.map((load) => load.hostMs()));
  const shed = (await requestsShed(operationsUrl, 'loop')) - shedBefore;
  const endMs = performance.now();
  await bringBack(worker);
  const backMs = performance.now();
  await wait(2_500);
  const away = await loads[0].stop();
  const healthy = await loads[1].stop();
  const all = [...away, ...healthy];
  signal('SIGTERM');
  await ended;
  return {
    stage,
    all,
    /** The requests meanwhile for rows of this worker, and of the other one. */
    away: away.filter(({ sentMs }) => sentMs > lostMs && sentMs < endMs),
    healthy: healthy.filter(({ sentMs }) => sentMs > beginMs && sentMs < endMs),
    unwritten,
    /** Connections of the service to the coordinator that were closed meanwhile. */
    closed,
    /** How long the host delays a process that has little to do. It delays the service as long. */
    hostMs: Math.round(hostMs),
    /** Requests that the service shed because the host delayed it. */
    shed,
    beginMs,
    after: all.filter(({ sentMs }) => sentMs > backMs),
    backMs,
  };
}

async function sessionsOf({ admin }: Stage): Promise<Set<number>> {
  const query = `select pid from pg_stat_activity where application_name like 'partner-network serve%'`;
  return new Set((await admin.query(query)).rows.map(({ pid }) => pid));
}

/** Pages of balances without a receipt, among those before this time. */
async function withoutReceipt({ admin }: Stage, samples: readonly Sample[], beforeMs = Infinity) {
  const pages = samples.filter(
    ({ isPage, target, sentMs }) => isPage && target.listing === 'balances' && sentMs < beforeMs,
  );
  assert.ok(pages.length > 30);
  const written = new Set<string>();
  // The receipts of one customer are on one worker, and can be read while another one is away.
  for (const customer of new Set(pages.map(({ target }) => target.owner))) {
    const query = `select request_id from receipts where customer_id = $1 and outcome = 'GRANTED'`;
    for (const { request_id } of (await admin.query(query, [customer])).rows) written.add(request_id);
  }
  return pages.filter(({ requestId }) => !written.has(requestId));
}

const refusedIn = (samples: readonly Sample[]) => samples.filter(({ isPage }) => !isPage).length;

type Seen = Awaited<ReturnType<typeof loseWorker>>;

/** What must be true after its return, however it was lost. */
function testReturn(seen: () => Seen): void {
  test('1 s after the worker accepts connections again, every answer is a page', (t) => {
    const { after, backMs } = seen();
    assertRecovered(t, after, backMs);
  });

  test('in the end every page of balances has its receipt', async () => {
    const { stage, all } = seen();
    await stage.recover();
    assert.deepEqual(await withoutReceipt(stage, all), []);
  });
}

suite('a worker is killed', () => {
  let seen: Seen;

  before(async () => {
    seen = await loseWorker(
      3_000,
      ({ kill }) => kill(),
      ({ start }) => start(),
    );
  });

  test('all pages of the other worker come within 150 ms', (t) => {
    const { healthy, hostMs, shed } = seen;
    t.diagnostic(
      `${summaryOf(healthy)}; the host delays processes by ${hostMs} ms, ${shed} requests are shed`,
    );
    assert.ok(healthy.length > 80 && refusedIn(healthy) <= shed);
    assert.ok(longestMs(healthy) < 150 + hostMs);
  });

  test('its own rows are a 503 within 250 ms, which says when to retry', (t) => {
    const { away, hostMs } = seen;
    t.diagnostic(summaryOf(away));
    assert.ok(away.length > 80 && away.every(({ isPage }) => !isPage));
    assert.ok(longestMs(away) < 250 + hostMs);
  });

  test('the service keeps its connections to the coordinator', () => {
    assert.deepEqual(seen.closed, new Set());
  });

  test('the receipts of the other worker are written meanwhile', () => {
    assert.deepEqual(seen.unwritten, []);
  });

  testReturn(() => seen);
});

suite('a worker is frozen', () => {
  let seen: Seen;

  before(async () => {
    seen = await loseWorker(
      7_000,
      ({ freeze }) => freeze(),
      ({ thaw }) => thaw(),
    );
  });

  test('after 2 s, all pages of the other worker come', (t) => {
    const { healthy, beginMs, shed } = seen;
    const [late, early] = [true, false].map((isLate) =>
      healthy.filter(({ sentMs }) => sentMs > beginMs + 2_000 === isLate),
    );
    t.diagnostic(`first 2 s: ${summaryOf(early!)}; then: ${summaryOf(late!)}`);
    assert.ok(late!.length > 80 && refusedIn(late!) <= shed);
  });

  test('its own rows are a 503 within 2 s', (t) => {
    const { away, hostMs } = seen;
    t.diagnostic(summaryOf(away));
    assert.ok(away.length > 80 && longestMs(away) < 2_000 + hostMs);
  });

  testReturn(() => seen);
});

/** What breaks a promise, and what does not. Times are given, so that no test waits. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Run } from '../../src/rehearsals/runs.ts';
import { promiseNames, type ScenarioName, scenarioNames } from '../../src/rehearsals/scenarios.ts';
import { notKept } from './client.ts';

interface Step {
  readonly atMs: number;
  readonly cursor?: string;
  readonly path?: string;
  readonly status?: number;
  readonly code?: string;
  readonly waitMs?: number;
  readonly cut?: 'torn' | 'stalled';
  /** Milliseconds until the response is sent, or its connection is closed. */
  readonly tookMs?: number;
  readonly isTooLate?: boolean;
  readonly isFault?: boolean;
  readonly isLast?: boolean;
  readonly hasKeyElsewhere?: boolean;
}

const requestAt = (startedMs: number) => ({
  id: '/',
  at: '',
  method: 'GET',
  path: '/',
  hasCursor: false,
  startedMs,
});

/** Judges the steps of a run: each is a request and its response. */
function judge(scenario: ScenarioName, steps: readonly Step[]) {
  const run = new Run();
  for (const step of steps) {
    const { atMs, cursor, path = '/network/v1/brands', status = 200, code = '', cut, tookMs = 1 } = step;
    const request = { ...requestAt(atMs), id: `${path} ${cursor}`, path, hasCursor: cursor !== undefined };
    run.requests.push(request);
    run.judge(request, step.hasKeyElsewhere ?? false);
    if (step.isFault) run.faults += 1;
    const wait = { 'Retry-After': '9', 'Retry-After-Ms': String(step.waitMs) };
    const headers: Record<string, string> = step.waitMs === undefined ? {} : wait;
    const body = JSON.stringify({ errors: [{ code }] });
    run.answer(request, { status, headers, body, ...(cut && { cut }) }, atMs + (cut ? 0 : tookMs));
    if (cut) run.close(request, atMs + tookMs, step.isTooLate ?? false);
    if (step.isLast) run.reachLastPage();
  }
  return { ...notKept({ promises: run.promises(scenario) }), reasons: run.promises(scenario) };
}

function assertJudged(
  scenario: ScenarioName,
  steps: readonly Step[],
  expected: Record<string, string>,
  reason = /./,
): void {
  const { reasons, ...found } = judge(scenario, steps);
  assert.deepEqual(found, expected, JSON.stringify(reasons));
  const broken = reasons.filter(({ verdict }) => verdict === 'broken');
  for (const { reason: text } of broken) assert.match(text, reason);
  for (const { reason: text } of reasons) assert.match(text, /^[A-Z][^.]*\.$/, 'one sentence');
}

const p1: Step = { atMs: 0 };
const p2 = (atMs: number, step: Partial<Step> = {}): Step => ({ atMs, cursor: 'two', ...step });
const p3 = (atMs: number, step: Partial<Step> = {}): Step => ({
  atMs,
  cursor: 'three',
  isLast: true,
  ...step,
});
const limited = { status: 429, waitMs: 500, isFault: true };
const failed = { status: 500, isFault: true };
const refused = { status: 400, code: 'INVALID_CURSOR', isFault: true, isLast: false };

test('without requests, everything is pending', () => {
  const promises = new Run().promises('steady');
  assert.deepEqual(new Set(promises.map(({ verdict }) => verdict)), new Set(['pending']));
});

test('reached-the-last-page is pending until the last page is sent', () => {
  assertJudged('steady', [p1, p2(10)], { 'reached-the-last-page': 'pending' });
  assertJudged('steady', [p1, p2(10), p3(20)], {});
});

test('waited-as-asked: the next request comes after the time in Retry-After-Ms, less 10 ms', () => {
  const walk = (waitMs: number) => [
    p1,
    p2(10, limited),
    p2(11 + waitMs),
    p3(2_000, { ...limited, isLast: false }),
    p3(3_000),
  ];
  assertJudged('rate-limited', walk(500), {});
  assertJudged('rate-limited', walk(490), {});
  assertJudged('rate-limited', walk(489), { 'waited-as-asked': 'broken' }, /^Request 3 came after 489 ms, /);
});

test('everything is pending until the fault of the scenario has come', () => {
  const pending = Object.fromEntries(promiseNames.map((name) => [name, 'pending']));
  for (const name of scenarioNames) {
    const isKept = name === 'steady' || name === 'short-pages';
    assertJudged(name, [{ ...p1, isLast: true }], isKept ? {} : pending);
  }
});

test('waited-as-asked is pending until the next request; one fault is enough', () => {
  const rest = { 'reached-the-last-page': 'pending', resumed: 'pending' };
  assertJudged('rate-limited', [p1, p2(10, limited)], { ...rest, 'waited-as-asked': 'pending' });
  const other = { atMs: 600, path: '/network/v1/balances' };
  assertJudged('rate-limited', [p1, p2(10, limited), other], rest);
  assertJudged('rate-limited', [p1, p2(10, limited), p2(600, { isLast: true })], {});
});

test('a request that was under way when a response was sent is not judged by it', () => {
  const steps = [p1, p2(10, { ...failed, tookMs: 100 }), { ...p1, atMs: 50, path: '/network/v1/balances' }];
  assertJudged('server-error', steps, { 'reached-the-last-page': 'pending', resumed: 'pending' });
});

test('resumed: the same request again, and not a walk from the start', () => {
  assertJudged('server-error', [p1, p2(10, failed), p2(100), p3(200)], {});
  const over = [p1, p2(10, failed), { atMs: 100 }, p2(200), p3(300)];
  assertJudged('server-error', over, { resumed: 'broken' }, /^Request 3 started over/);
  // Another listing is another walk.
  const other = { atMs: 100, path: '/network/v1/balances' };
  assertJudged('server-error', [p1, p2(10, failed), other, p2(200), p3(300)], {});
  // A walk after a completed one.
  assertJudged('server-error', [p1, p2(10, failed), p2(100), p3(200), { atMs: 300 }], {});
});

test('resumed: a client that gives up has not resumed', () => {
  const pending = { 'reached-the-last-page': 'pending', resumed: 'pending' };
  assertJudged('torn', [p1, p2(10, { cut: 'torn', isFault: true })], pending);
});

test('resumed: a client that does not time out breaks it, unless it sent the request again meanwhile', () => {
  const stalled = p2(10, { cut: 'stalled', isFault: true, tookMs: 30_000, isTooLate: true });
  assertJudged('stalled', [p1, stalled, p2(40_000), p3(40_010)], { resumed: 'broken' }, /time out/);
  const timedOut = p2(10, { cut: 'stalled', isFault: true, tookMs: 5_000 });
  assertJudged('stalled', [p1, timedOut, p2(6_000), p3(6_010)], {});
  const run = new Run();
  run.judge(requestAt(0), false);
  run.faults += 1;
  const request = requestAt(0);
  run.answer(request, { status: 200, headers: {}, body: '', cut: 'stalled' }, 1);
  run.judge(requestAt(5_000), false);
  run.close(request, 30_000, true);
  assert.deepEqual(notKept({ promises: run.promises('stalled') }), { 'reached-the-last-page': 'pending' });
});

test('did-not-hammer: at most 5 requests for one page', () => {
  const five = [0, 100, 200, 300, 400].map((atMs) => ({ atMs }));
  assertJudged('steady', [...five, p3(500)], {});
  assertJudged('steady', [...five, { atMs: 500 }, p3(600)], { 'did-not-hammer': 'broken' }, /^Request 6 /);
});

test('did-not-hammer: no request within 50 ms of a failure', () => {
  const walk = (pauseMs: number) => [p1, p2(10, failed), p2(11 + pauseMs), p3(200)];
  assertJudged('server-error', walk(50), {});
  assertJudged(
    'server-error',
    walk(49),
    { 'did-not-hammer': 'broken' },
    /^Request 3 came 49 ms after a fail/,
  );
  const torn = [p1, p2(10, { cut: 'torn', isFault: true, tookMs: 5 }), p2(20), p3(200)];
  assertJudged('torn', torn, { 'did-not-hammer': 'broken' }, /^Request 3 came 5 ms after/);
});

test('did-not-hammer: a client that waits as asked has not hammered, however short the time is', () => {
  const asked = { ...limited, waitMs: 5 };
  const broken = { 'did-not-hammer': 'broken' };
  const walk = (pauseMs: number) => [p1, p2(10, asked), p2(11 + pauseMs), p3(200)];
  assertJudged('rate-limited', walk(5), {});
  // A timer may be a millisecond early.
  assertJudged('rate-limited', walk(4.1), {});
  assertJudged('rate-limited', walk(3.9), broken, /^Request 3 came 3 ms after a failure/);
  assertJudged('rate-limited', walk(0), broken);
  // 49 ms would be too soon after a failure that names no time.
  assertJudged('rate-limited', [p1, p2(10, { ...asked, waitMs: 50 }), p2(60), p3(200)], {});
  const other = { atMs: 16, path: '/network/v1/balances' };
  assertJudged('rate-limited', [p1, p2(10, asked), other, p2(17), p3(200)], {});
  const often = [10, 16, 22, 28, 34, 40].map((atMs) => p2(atMs, asked));
  assertJudged('rate-limited', [p1, ...often, p2(46), p3(200)], {});
});

test('did-not-hammer: a request that comes before its time counts as one of 5 for its page', () => {
  const early = [10, 62, 114, 166, 218].map((atMs) => p2(atMs, { ...limited, waitMs: 100 }));
  const both = { 'did-not-hammer': 'broken', 'waited-as-asked': 'broken' };
  assertJudged('rate-limited', [p1, ...early, p2(270), p3(500)], both);
});

test('stopped-on-final-errors: no request after a final error', () => {
  const final = { status: 401, isFault: true };
  assertJudged('key-revoked', [p1, p2(10, final)], {});
  const broken = { 'stopped-on-final-errors': 'broken' };
  assertJudged(
    'key-revoked',
    [p1, p2(10, final), p2(1_000, final)],
    broken,
    /^Request 3 came after a final error/,
  );
  for (const status of [400, 403, 404, 405, 431]) {
    assertJudged('steady', [{ ...p1, status }, p3(1_000)], broken);
  }
  assertJudged('steady', [{ ...p1, status: 408 }, { atMs: 1_000 }, p3(1_100)], {});
});

test('INVALID_CURSOR: one restart, at once if the client likes, and not the same cursor again', () => {
  const start = [p1, p2(10), p3(20, refused)];
  const again = (atMs: number): Step[] => [{ atMs }, p2(atMs + 1), { ...p3(atMs + 2), cursor: 'other' }];
  assertJudged('expired-cursor', start, { 'reached-the-last-page': 'pending', resumed: 'pending' });
  assertJudged('expired-cursor', [...start, ...again(22)], {});
  // A restart that fails is repeated, which does not count as a second restart.
  const repeated = [...start, { atMs: 22, status: 503 }, ...again(2_000)];
  assertJudged('expired-cursor', repeated, {});
  const twice = [...start, { atMs: 22 }, { atMs: 30 }, p3(40, { cursor: 'other' })];
  const both = { resumed: 'broken', 'stopped-on-final-errors': 'broken' };
  assertJudged('expired-cursor', twice, both, /^Request 5 started over again/);
  const same = [...start, { atMs: 22 }, p3(30)];
  assertJudged('expired-cursor', same, { 'stopped-on-final-errors': 'broken' }, /refused cursor again/);
  // A new walk after the last page.
  assertJudged('expired-cursor', [...start, ...again(22), { atMs: 900 }, { atMs: 950 }], {});
});

test('kept-its-key: a key in another place breaks it', () => {
  const steps = [p1, p2(10, { hasKeyElsewhere: true }), p3(20)];
  assertJudged('steady', steps, { 'kept-its-key': 'broken' }, /^Request 2 had a key outside/);
});

test('a broken promise stays broken, with its first reason', () => {
  const steps = [p1, p2(10, failed), p2(12, { status: 500 }), p2(14), p3(200)];
  assertJudged('server-error', steps, { 'did-not-hammer': 'broken' }, /^Request 3 /);
});

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { offline } from './support/offline.ts';
import { rejectionOf } from './support/rejection.ts';

/** The time that each retry waits, if `Math.random` returns `chance`. No time passes. */
async function waits(t: TestContext, maxRetries: number, answer: () => Promise<Response>, chance = 1) {
  const asked: number[] = [];
  const setTimer = globalThis.setTimeout;
  t.mock.method(Math, 'random', () => chance);
  t.mock.method(globalThis, 'setTimeout', (run: () => void, ms: number) => {
    if (ms === 10_000) return setTimer(run, ms);
    asked.push(ms);
    return setTimer(run, 0);
  });
  await rejectionOf(offline({ maxRetries, fetch: answer }).brands.list());
  t.mock.restoreAll();
  return asked;
}

test('waits at random from 0.1 to 0.5 s, up to twice as long each time, and never over 8 s', async (t) => {
  const unreachable = () => Promise.reject(new TypeError('fetch failed'));
  assert.deepEqual(await waits(t, 7, unreachable), [500, 1_000, 2_000, 4_000, 8_000, 8_000, 8_000]);
  assert.deepEqual(await waits(t, 2, unreachable, 0.25), [200, 325]);
});

/** The waits if the answer asks for no time. */
const backoff = [500, 1_000, 2_000];

/** A time `ms` after that of the answer, by a clock that is an hour slow. */
function atAnHourAgo(ms: number) {
  const date = Math.floor(Date.now() / 1_000) * 1_000 - 3_600_000;
  return { date: new Date(date).toUTCString(), 'retry-after': new Date(date + ms).toUTCString() };
}

for (const [promise, headers, expected] of [
  [
    'waits for Retry-After-Ms, which counts before Retry-After',
    { 'retry-after-ms': '700', 'retry-after': '9' },
    700,
  ],
  ['waits for Retry-After, in seconds', { 'retry-after': '9' }, 9_000],
  ['waits for a minute', { 'retry-after': '60' }, 60_000],
  ['rounds up to a millisecond', { 'retry-after-ms': '0.5' }, 1],
  ['reads half a second', { 'retry-after': '0.5' }, 500],
  ['takes the first of two values', { 'retry-after': '1, 2' }, 1_000],
  ['compares a time with the clock of the server', atAnHourAgo(2_000), 2_000],
  ['ignores an invalid date', { 'retry-after': 'Sun, 99 Foo 2099 GMT' }, backoff],
  ['ignores a value that is not a time', { 'retry-after-ms': '-1', 'retry-after': 'soon' }, backoff],
  ['ignores an empty value', { 'retry-after-ms': '', 'retry-after': '' }, backoff],
  ["ignores a date that is not in HTTP's format", { 'retry-after': '2099-01' }, backoff],
  ['backs off from 0 ms', { 'retry-after-ms': '0' }, backoff],
  ['backs off from 0 s', { 'retry-after': '0' }, backoff],
  ['backs off from a time in the past', { 'retry-after': 'Thu, 01 Jan 2026 00:00:00 GMT' }, backoff],
] as const) {
  test(promise, async (t) => {
    const busy = async () => new Response('', { status: 503, headers });
    const asked = typeof expected === 'number' ? Array(3).fill(expected + 100) : expected;
    assert.deepEqual(await waits(t, 3, busy), asked);
    const atOnce = await waits(t, 3, busy, 0);
    assert.deepEqual(atOnce, Array(3).fill(typeof expected === 'number' ? expected : 100));
  });
}

for (const [form, write] of [
  ['in the current format', (utc: string) => utc],
  ['in the obsolete format', (utc: string) => utc.replace(/^(...), (..) (...) ..(..)/, '$1day, $2-$3-$4')],
] as const) {
  test(`Retry-After may be a time of day, ${form}`, async (t) => {
    const headers = { 'retry-after': write(new Date(Date.now() + 30_000).toUTCString()) };
    const [ms = 0] = await waits(t, 1, async () => new Response('', { status: 503, headers }));
    assert.ok(ms > 20_000 && ms <= 30_100, `${ms} ms`);
  });
}

test('statuses that will not change are not retried', async (t) => {
  for (const status of [400, 401, 403, 404, 408, 409, 501, 505]) {
    assert.deepEqual(await waits(t, 3, async () => new Response('', { status })), [], String(status));
  }
});

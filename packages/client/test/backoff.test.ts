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

test('waits for the time that an answer asks for, and up to 0.1 s longer', async (t) => {
  for (const [headers, shortest, longest] of [
    [{ 'retry-after-ms': '700', 'retry-after': '9' }, 700, [800, 800, 800]],
    [{ 'retry-after': '60' }, 60_000, [60_100, 60_100, 60_100]],
    // No time: as if it had not asked.
    [{ 'retry-after': '0' }, 100, [500, 1_000, 2_000]],
  ] as const) {
    const busy = async () => new Response('', { status: 503, headers });
    assert.deepEqual(await waits(t, 3, busy), longest);
    assert.deepEqual(await waits(t, 3, busy, 0), [shortest, shortest, shortest]);
  }
});

test('Retry-After may be a time of day, by the clock of the client', async (t) => {
  const headers = { 'retry-after': new Date(Date.now() + 30_000).toUTCString() };
  const [ms = 0] = await waits(t, 1, async () => new Response('', { status: 503, headers }));
  assert.ok(ms > 20_000 && ms <= 30_100, `${ms} ms`);
});

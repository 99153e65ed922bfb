import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { PartnerNetwork } from '../src/index.ts';
import { rejectionOf } from './support/rejection.ts';

/** How long each retry waits when chance is at its highest. No wait is real. */
async function waits(t: TestContext, maxRetries: number, answer: () => Promise<Response>) {
  const asked: number[] = [];
  const setTimer = globalThis.setTimeout;
  t.mock.method(Math, 'random', () => 1);
  t.mock.method(globalThis, 'setTimeout', (run: () => void, ms: number) => {
    if (ms === 10_000) return setTimer(run, ms);
    asked.push(ms);
    return setTimer(run, 0);
  });
  const baseUrl = 'https://network.example/network/v1';
  const network = new PartnerNetwork({ apiKey: 'x', baseUrl, maxRetries, fetch: answer, maxRate: 0 });
  await rejectionOf(network.brands.list());
  return asked;
}

test('backs off by up to half a second, twice as much each time, and never over 8 s', async (t) => {
  const unreachable = () => Promise.reject(new TypeError('fetch failed'));
  assert.deepEqual(await waits(t, 7, unreachable), [500, 1_000, 2_000, 4_000, 8_000, 8_000, 8_000]);
});

for (const [promise, headers, askedMs] of [
  ['Retry-After-Ms counts before Retry-After', { 'retry-after-ms': '700', 'retry-after': '9' }, 700],
  ['Retry-After counts in seconds', { 'retry-after': '9' }, 9_000],
  ['what is no time counts for nothing', { 'retry-after-ms': '-1', 'retry-after': 'soon' }, 0],
  ['a time that is past counts for nothing', { 'retry-after': 'Thu, 01 Jan 2026 00:00:00 GMT' }, 0],
  ['a minute is waited for', { 'retry-after': '60' }, 60_000],
] as const) {
  test(`${promise}, and chance comes on top`, async (t) => {
    const limited = async () => new Response('', { status: 429, headers });
    assert.deepEqual(await waits(t, 1, limited), [askedMs + 500]);
  });
}

test('Retry-After may be a time of day', async (t) => {
  const headers = { 'retry-after': new Date(Date.now() + 30_000).toUTCString() };
  const [ms = 0] = await waits(t, 1, async () => new Response('', { status: 503, headers }));
  assert.ok(ms > 20_000 && ms <= 30_500, `${ms} ms`);
});

for (const status of [400, 401, 403, 404, 408, 409, 501, 505]) {
  test(`a ${status} is not tried again`, async (t) => {
    assert.deepEqual(await waits(t, 3, async () => new Response('', { status })), []);
  });
}

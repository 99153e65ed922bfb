/** The rate limit headers for each decision, without a service: the check `mutate` needs quick tests. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { admit, type Decision } from '../../src/limiter/rate-limit.ts';

function limiterOf(decision: Decision) {
  const limiter = {
    ratePerSecond: 50,
    tallies: [],
    asked: [] as string[],
    admit: (partnerId: string) => {
      limiter.asked.push(partnerId);
      return { ...decision, source: 'memory' as const };
    },
  };
  return limiter;
}

test('a response has no rate limit headers without a limiter', async () => {
  const headers = ['X-Request-Id', '1'];
  await admit(undefined, 'brands', 'acme', headers);
  assert.deepEqual(headers, ['X-Request-Id', '1']);
});

test('an admitted request gets the policy, its remaining rate, and the seconds until more', async () => {
  const limiter = limiterOf({ isAdmitted: true, left: 12, untilMoreMs: 1_000.5 });
  const headers: string[] = [];
  await admit(limiter, 'brands', 'acme', headers);
  assert.deepEqual(limiter.asked, ['acme']);
  assert.deepEqual(headers, ['RateLimit-Policy', '"brands";q=50;w=1', 'RateLimit', '"brands";r=12;t=2']);
});

/** The length is that of the body below. */
const headersOfErrors = [
  ...['Content-Type', 'application/json; charset=utf-8', 'Cache-Control', 'no-store'],
  ...['Content-Length', '175'],
];

test('a refused request also gets the time to retry, in whole seconds and in milliseconds', async () => {
  const headers: string[] = [];
  const limiter = limiterOf({ isAdmitted: false, left: 0, untilMoreMs: 700.25 });
  await assert.rejects(admit(limiter, 'balances', 'acme', headers), {
    status: 429,
    errors: [
      {
        category: 'RATE_LIMIT_ERROR',
        code: 'RATE_LIMITED',
        detail:
          'Wait for the time in Retry-After-Ms, then retry: the limit is 50 requests per second per partner.',
      },
    ],
    headers: [...headersOfErrors, 'Retry-After', '1', 'Retry-After-Ms', '701'],
  });
  assert.deepEqual(headers, ['RateLimit-Policy', '"balances";q=50;w=1', 'RateLimit', '"balances";r=0;t=1']);
});

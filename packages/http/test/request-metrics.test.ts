import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ErrorCode } from '@partner-network/contract/errors';
import type { Metric } from '../../common/src/observability/metric.ts';
import { refusal } from '../src/refusal.ts';
import { createRequestMetrics } from '../src/request-metrics.ts';
import { brands, head, pageAfter, shortFile, startSite } from './site.ts';

/** The values of a metric that are not 0, by its labels. */
function valuesOf(metrics: readonly Metric[], name: string): Record<string, number> {
  const { read } = metrics.find((metric) => metric.name === `partner_network_${name}`)!;
  const counted = read().filter(({ value, part = 'count' }) => value !== 0 && part === 'count');
  return Object.fromEntries(counted.map(({ labels, value }) => [Object.values(labels).join(' '), value]));
}

test('counts every response by operation, status and code, and measures the time of requests', async (t) => {
  const route = pageAfter(({ query }) => {
    if (query === 'fault') throw new Error('no table');
    if (query !== '') throw refusal(query as ErrorCode);
  });
  const { call, raw, requests } = await startSite(t, { routes: { [brands]: route } });
  await call(brands);
  await call(brands, { method: 'HEAD' });
  for (const query of ['UNAUTHORIZED', 'PARTNER_DISABLED', 'fault']) await call(`${brands}?${query}`);
  await call(shortFile);
  await call('/nowhere/at/all');
  await call(brands, { method: 'OPTIONS' });
  await raw('nonsense\r\n\r\n');
  await raw(`${head()}X: ${'x'.repeat(20_000)}\r\n\r\n`);

  assert.deepEqual(valuesOf(requests.metrics, 'requests_total'), {
    'listBrands 200': 2,
    'listBrands 401 UNAUTHORIZED': 1,
    'listBrands 403 PARTNER_DISABLED': 1,
    'listBrands 500 INTERNAL_SERVER_ERROR': 1,
    'other 200': 1,
    'other 204': 1,
    'other 404 NOT_FOUND': 1,
    'other 400 MALFORMED_REQUEST': 1,
    'other 431 REQUEST_TOO_LARGE': 1,
  });
  assert.deepEqual(valuesOf(requests.metrics, 'request_duration_seconds'), {
    'listBrands answered': 2,
    'listBrands refused': 2,
    'listBrands failed': 1,
    'other answered': 2,
    'other refused': 1,
  });
});

test('the counters of faults start at 0, so that the first fault is an increase', () => {
  const codes = createRequestMetrics()
    .metrics[0]!.read()
    .map(({ labels, value }) => `${labels.operation} ${labels.status} ${value}`);
  const first = ['200 0', '500 0', '503 0'];
  assert.deepEqual(
    codes,
    ['listBrands', 'listBalances'].flatMap((name) => first.map((each) => `${name} ${each}`)),
  );
});

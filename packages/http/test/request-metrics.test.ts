import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Metric } from '../../common/src/observability/metric.ts';
import { keys } from '../../testkit/fixtures/fixture.ts';
import { startTestService } from '../../testkit/service/service.ts';

/** The values of a metric that are not 0, by its labels. */
function valuesOf(metrics: readonly Metric[], name: string): Record<string, number> {
  const { read } = metrics.find((metric) => metric.name === `partner_network_${name}`)!;
  const counted = read().filter(({ value, part = 'count' }) => value !== 0 && part === 'count');
  return Object.fromEntries(counted.map(({ labels, value }) => [Object.values(labels).join(' '), value]));
}

test('counts every response by operation, status and code, and measures the time of requests', async (t) => {
  const service = await startTestService(t);
  const { brands, balances, call, raw, metrics } = service;
  await brands('', { key: keys.acme });
  await brands('?limit=1', { key: keys.acme, method: 'HEAD' });
  await brands('?limit=0&nonsense=1', { key: keys.acme });
  await brands('', { key: keys.neverIssued });
  await balances('?customer_id=carol&type=CHECKING', { key: keys.acme });
  await service.database.execute('drop table balances');
  await balances('?customer_id=alice&type=CHECKING', { key: keys.acme });
  await call('/docs');
  await call('/nowhere/at/all');
  await call('/network/v1/brands', { method: 'OPTIONS' });
  await raw('nonsense\r\n\r\n');
  await raw(`GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`);

  assert.deepEqual(valuesOf(metrics, 'requests_total'), {
    'listBrands 200': 2,
    'listBrands 400 VALUE_TOO_LOW': 1,
    'listBrands 401 UNAUTHORIZED': 1,
    'listBalances 403 GRANT_NOT_FOUND': 1,
    'listBalances 500 INTERNAL_SERVER_ERROR': 1,
    'other 200': 1,
    'other 204': 1,
    'other 404 NOT_FOUND': 1,
    'other 400 MALFORMED_REQUEST': 1,
    'other 431 REQUEST_TOO_LARGE': 1,
  });
  assert.deepEqual(valuesOf(metrics, 'request_duration_seconds'), {
    'listBrands answered': 2,
    'listBrands refused': 2,
    'listBalances refused': 1,
    'listBalances failed': 1,
    'other answered': 2,
    'other refused': 1,
  });
});

test('the counters of faults start at 0, so that the first fault is an increase', async (t) => {
  const { metrics } = await startTestService(t);
  const codes = metrics[0]!
    .read()
    .map(({ labels, value }) => `${labels.operation} ${labels.status} ${value}`);
  const first = ['200 0', '500 0', '503 0'];
  assert.deepEqual(
    codes,
    ['listBrands', 'listBalances'].flatMap((name) => first.map((each) => `${name} ${each}`)),
  );
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { metricsRoute } from '../../src/http/operations/metrics.ts';
import { createHistogram, joinedMetrics, type MetricRead } from '../../src/observability/metric.ts';

const exchange = { requestId: '', startedMs: 0, method: 'GET', rawHeaders: [], query: '' };

async function exposed(metrics: readonly MetricRead[]): Promise<string[]> {
  const route = metricsRoute(async () => metrics);
  return String(await route({ ...exchange, headers: [] }))
    .split('\n')
    .filter(Boolean);
}

test('however many ask at once, metrics are read once, and anew for who asks later', async () => {
  let reads = 0;
  const route = metricsRoute(async () => {
    reads += 1;
    return [];
  });
  const asked = Array.from({ length: 100 }, () => ({ ...exchange, headers: [] as string[] }));
  await Promise.all(asked.map(route));
  assert.equal(reads, 1);
  for (const { headers } of asked) assert.match(headers.join(), /^Content-Type,text\/plain/);
  await route({ ...exchange, headers: [] });
  assert.equal(reads, 2);
});

test('a histogram counts into each bucket all that is no larger, as Prometheus reads it', async () => {
  const histogram = createHistogram([0.1, 1]);
  for (const value of [0.05, 0.1, 0.2, 1, 7]) histogram.observe(value);
  const description = {
    name: 'partner_network_waits_seconds',
    help: 'Waits.',
    labels: ['operation'],
  } as const;
  const readings = histogram.read({ operation: 'x' });
  assert.deepEqual(await exposed([{ ...description, type: 'histogram', readings }]), [
    '# HELP partner_network_waits_seconds Waits.',
    '# TYPE partner_network_waits_seconds histogram',
    'partner_network_waits_seconds_bucket{operation="x",le="0.1"} 2',
    'partner_network_waits_seconds_bucket{operation="x",le="1"} 4',
    'partner_network_waits_seconds_bucket{operation="x",le="+Inf"} 5',
    'partner_network_waits_seconds_sum{operation="x"} 8.35',
    'partner_network_waits_seconds_count{operation="x"} 5',
  ]);
});

test('what several processes measure under one name is one metric', async () => {
  const description = { name: 'partner_network_things', help: 'Things.', type: 'gauge' } as const;
  const alone = { ...description, labels: [], readings: [{ labels: {}, value: 1 }] };
  const numbered = { ...description, labels: ['worker'], readings: [{ labels: { worker: '2' }, value: 3 }] };
  const joined = joinedMetrics([alone, numbered]);
  assert.deepEqual(joined[0]!.labels, ['worker']);
  assert.deepEqual((await exposed(joined)).slice(2), [
    'partner_network_things 1',
    'partner_network_things{worker="2"} 3',
  ]);
});

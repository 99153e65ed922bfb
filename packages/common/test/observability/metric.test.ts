import assert from 'node:assert/strict';
import { test } from 'node:test';
import { metricsRoute } from '../../../http/src/health.ts';
import { exchangeOf } from '../../../testkit/fixtures/http.ts';
import { until } from '../../../testkit/fixtures/lifetime.ts';
import { type MetricName, metricCatalogue } from '../../src/observability/catalogue.ts';
import type { Metric } from '../../src/observability/metric.ts';
import {
  buildInfo,
  createHistogram,
  type MetricRead,
  watchThisProcess,
} from '../../src/observability/metric.ts';

const help = (name: MetricName) => `# HELP ${name} ${metricCatalogue[name].help}`;

/** What a scrape answers: the body, and the headers that the route adds. */
async function scrape(metrics: readonly MetricRead[]): Promise<{ text: string; headers: string[] }> {
  const exchange = exchangeOf();
  const text = String(await metricsRoute(async () => metrics).answer(exchange));
  return { text, headers: exchange.headers };
}

test('concurrent scrapes share one reading of the metrics, and a later scrape reads them again', async () => {
  let reads = 0;
  const route = metricsRoute(async () => {
    reads += 1;
    return [];
  });
  await Promise.all(Array.from({ length: 100 }, () => route.answer(exchangeOf())));
  assert.equal(reads, 1);
  await route.answer(exchangeOf());
  assert.equal(reads, 2);
});

test('metrics are written in the text format of Prometheus, byte for byte', async () => {
  const histogram = createHistogram([0.1, 1]);
  for (const value of [0.05, 0.1, 0.2, 1, 7]) histogram.observe(value);
  const { text, headers } = await scrape([
    {
      name: 'partner_network_request_duration_seconds',
      readings: histogram.read({ operation: 'x' }),
    },
    {
      name: 'partner_network_requests_total',
      readings: [
        { labels: { path: 'C:\\a "b"\nc', other: '' }, value: 1e21 },
        { labels: {}, value: Number.NaN },
      ],
    },
    { name: 'partner_network_ready', readings: [] },
  ]);
  assert.equal(
    text,
    String.raw`${help('partner_network_request_duration_seconds')}
# TYPE partner_network_request_duration_seconds histogram
partner_network_request_duration_seconds_bucket{operation="x",le="0.1"} 2
partner_network_request_duration_seconds_bucket{operation="x",le="1"} 4
partner_network_request_duration_seconds_bucket{operation="x",le="+Inf"} 5
partner_network_request_duration_seconds_sum{operation="x"} 8.35
partner_network_request_duration_seconds_count{operation="x"} 5

${help('partner_network_requests_total')}
# TYPE partner_network_requests_total counter
partner_network_requests_total{path="C:\\a \"b\"\nc",other=""} 1e+21
partner_network_requests_total NaN

${help('partner_network_ready')}
# TYPE partner_network_ready gauge
`,
  );
  assert.deepEqual(headers, [
    ...['Content-Type', 'text/plain; version=0.0.4; charset=utf-8'],
    ...['Cache-Control', 'no-store'],
  ]);
});

test('readings of several processes under one name become one metric', async () => {
  const name = 'partner_network_ready';
  const { text } = await scrape([
    { name, readings: [{ labels: {}, value: 1 }] },
    { name, readings: [{ labels: { worker: '2' }, value: 3 }] },
  ]);
  assert.match(text, /\npartner_network_ready 1\npartner_network_ready\{worker="2"\} 3\n$/);
});

/** The number of times that this process was late by more than these seconds. */
function delays(metrics: readonly Metric[], seconds: string): number {
  const readings = metrics.find(({ name }) => name === 'partner_network_event_loop_delay_seconds')!.read();
  const upTo = (le: string) => readings.find(({ labels }) => labels.le === le)!.value;
  return upTo('+Inf') - upTo(seconds);
}

test('a standstill counts for each tick that it delays', async (t) => {
  const { metrics, close } = watchThisProcess();
  t.after(close);
  const before = delays(metrics, '0.25');
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_000);
  await until(20_000, () => delays(metrics, '0.25') > before);
  // Seven or more of the ten ticks in that second were more than 250 ms before its end.
  assert.ok(delays(metrics, '0.25') - before >= 6, String(delays(metrics, '0.25')));
});

test('reports memory, CPU time and start of the process, and the build', () => {
  const { metrics, close } = watchThisProcess();
  close();
  const read = (name: string) => metrics.find((metric) => metric.name === name)!.read()[0]!.value;
  assert.ok(read('process_resident_memory_bytes') > 10e6);
  assert.ok(read('process_cpu_seconds_total') > 0);
  assert.ok(Math.abs(read('process_start_time_seconds') + process.uptime() - Date.now() / 1_000) < 5);
  const [{ labels } = { labels: {} }] = buildInfo('sandbox', 'sqlite').read();
  const { version, ...rest } = labels as Record<string, string>;
  assert.match(version!, /^\d+\.\d+\.\d+/);
  assert.deepEqual(rest, { node: process.versions.node, environment: 'sandbox', engine: 'sqlite' });
});

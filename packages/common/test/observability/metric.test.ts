import assert from 'node:assert/strict';
import { test } from 'node:test';
import { metricsRoute } from '../../../http/src/health.ts';
import { exchangeOf } from '../../../testkit/fixtures/http.ts';
import { createHistogram, joinedMetrics, type MetricRead } from '../../src/observability/metric.ts';

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
      name: 'partner_network_waits_seconds',
      help: 'Waits.',
      type: 'histogram',
      readings: histogram.read({ operation: 'x' }),
    },
    {
      name: 'partner_network_things_total',
      help: 'A "quoted" word,\na second line and a \\.',
      type: 'counter',
      readings: [
        { labels: { path: 'C:\\a "b"\nc', other: '' }, value: 1e21 },
        { labels: {}, value: Number.NaN },
      ],
    },
    { name: 'partner_network_nothing', help: 'No readings.', type: 'gauge', readings: [] },
  ]);
  assert.equal(
    text,
    String.raw`# HELP partner_network_waits_seconds Waits.
# TYPE partner_network_waits_seconds histogram
partner_network_waits_seconds_bucket{operation="x",le="0.1"} 2
partner_network_waits_seconds_bucket{operation="x",le="1"} 4
partner_network_waits_seconds_bucket{operation="x",le="+Inf"} 5
partner_network_waits_seconds_sum{operation="x"} 8.35
partner_network_waits_seconds_count{operation="x"} 5

# HELP partner_network_things_total A "quoted" word,\na second line and a \\.
# TYPE partner_network_things_total counter
partner_network_things_total{path="C:\\a \"b\"\nc",other=""} 1e+21
partner_network_things_total NaN

# HELP partner_network_nothing No readings.
# TYPE partner_network_nothing gauge
`,
  );
  assert.deepEqual(headers, [
    ...['Content-Type', 'text/plain; version=0.0.4; charset=utf-8'],
    ...['Cache-Control', 'no-store'],
  ]);
});

test('readings of several processes under one name become one metric', async () => {
  const description = { name: 'partner_network_things', help: 'Things.', type: 'gauge' } as const;
  const alone = { ...description, readings: [{ labels: {}, value: 1 }] };
  const numbered = { ...description, readings: [{ labels: { worker: '2' }, value: 3 }] };
  const joined = joinedMetrics([alone, numbered]);
  assert.match(
    (await scrape(joined)).text,
    /\npartner_network_things 1\npartner_network_things\{worker="2"\} 3\n$/,
  );
});

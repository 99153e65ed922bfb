import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../../../testkit/fixtures/until.ts';
import type { Metric } from '../../src/observability/metric.ts';
import { buildInfo, watchThisProcess } from '../../src/observability/process-metrics.ts';

/** The number of times that this process was late by more than these seconds. */
function delays(metrics: readonly Metric[], seconds: string): number {
  const readings = metrics.find(({ type }) => type === 'histogram')!.read();
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

import type { Metric as Exposed } from 'prom-client';
import type { MetricRead } from '../metric.ts';
import type { Exchange, Route } from './answer.ts';

/** Answers with all metrics in the text format of Prometheus. */
export function metricsRoute(read: () => Promise<readonly MetricRead[]>): Route {
  return async ({ headers }: Exchange) => {
    // Loaded at the first scrape: that takes 28 ms, which a start should not wait for.
    const { Registry } = await import('prom-client');
    const registry = new Registry();
    for (const metric of await read()) registry.registerMetric(exposed(metric));
    headers.push('Content-Type', registry.contentType, 'Cache-Control', 'no-store');
    return registry.metrics();
  };
}

/** The library's own metrics count for themselves; these are counted already, and are only written down. */
function exposed({ name, help, type, readings }: MetricRead): Exposed {
  const values = readings.map(({ labels, value, part }) => ({
    labels,
    value,
    metricName: part === undefined ? name : `${name}_${part}`,
  }));
  return { name, get: async () => ({ name, help, type, values }) } as unknown as Exposed;
}

import type { MetricRead } from '../metric.ts';
import type { Exchange, Route } from './answer.ts';

/** Answers with all metrics in the text format of Prometheus. */
export function metricsRoute(read: () => Promise<readonly MetricRead[]>): Route {
  return async ({ headers }: Exchange) => {
    // Loaded at the first scrape: that takes 28 ms, which a start should not wait for.
    const { Counter, Gauge, Registry } = await import('prom-client');
    const registry = new Registry();
    for (const { name, help, type, labels, readings } of await read()) {
      const Kind = type === 'counter' ? Counter : Gauge;
      const metric = new Kind({ name, help, labelNames: [...labels], registers: [registry] });
      for (const reading of readings) metric.inc(reading.labels, reading.value);
    }
    headers.push('Content-Type', registry.contentType, 'Cache-Control', 'no-store');
    return registry.metrics();
  };
}

import type { Registry } from 'prom-client';
import type { Metric } from '../metric.ts';
import type { Exchange, Route } from './answer.ts';

/** Answers with all metrics in the text format of Prometheus. */
export function metricsRoute(metrics: readonly Metric[]): Route {
  let registry: Promise<Registry> | undefined;
  return async ({ headers }: Exchange) => {
    registry ??= createRegistry(metrics);
    const { contentType } = await registry;
    const text = await (await registry).metrics();
    headers.push('Content-Type', contentType, 'Cache-Control', 'no-store');
    return text;
  };
}

/** Loads its library at the first scrape: that takes 28 ms, which a start should not wait for. */
async function createRegistry(metrics: readonly Metric[]): Promise<Registry> {
  const { Counter, Gauge, Registry } = await import('prom-client');
  const registry = new Registry();
  for (const { name, help, type, labels, read } of metrics) {
    const Kind = type === 'counter' ? Counter : Gauge;
    new Kind({
      name,
      help,
      labelNames: [...labels],
      registers: [registry],
      collect() {
        this.reset();
        for (const reading of read()) this.inc(reading.labels, reading.value);
      },
    });
  }
  return registry;
}

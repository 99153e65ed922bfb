import type { Metric as Exposed } from 'prom-client';
import type { MetricRead } from '../../observability/metric.ts';
import type { Exchange, Route } from '../handle.ts';

/** Answers with all metrics in the text format of Prometheus. */
export function metricsRoute(read: () => Promise<readonly MetricRead[]>): Route {
  let underWay: Promise<Written> | undefined;

  async function write(): Promise<Written> {
    // Loaded at the first scrape: that takes 28 ms, which a start should not wait for.
    const { Registry } = await import('prom-client');
    const registry = new Registry();
    for (const metric of await read()) registry.registerMetric(exposed(metric));
    return { text: await registry.metrics(), contentType: registry.contentType };
  }

  return async ({ headers }: Exchange) => {
    // Whoever asks meanwhile gets the same: a flood of them must not keep a probe waiting.
    underWay ??= write().finally(() => {
      underWay = undefined;
    });
    const { text, contentType } = await underWay;
    headers.push('Content-Type', contentType, 'Cache-Control', 'no-store');
    return text;
  };
}

interface Written {
  readonly text: string;
  readonly contentType: string;
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

import type { MetricRead } from '@partner-network/common/observability/metric';
import type { Exchange, Route } from '../handle.ts';

/** Answers with all metrics in the text format of Prometheus. */
export function metricsRoute(read: () => Promise<readonly MetricRead[]>): Route {
  let reading: Promise<string> | undefined;

  const answer = async ({ headers }: Exchange) => {
    // Concurrent requests share one reading, so that a flood of them cannot delay a probe.
    reading ??= read()
      .then(exposition)
      .finally(() => {
        reading = undefined;
      });
    headers.push('Content-Type', 'text/plain; version=0.0.4; charset=utf-8', 'Cache-Control', 'no-store');
    return reading;
  };
  return { answer };
}

function exposition(metrics: readonly MetricRead[]): string {
  return `${metrics.map(metricText).join('\n\n')}\n`;
}

function metricText({ name, help, type, readings }: MetricRead): string {
  const samples = readings.map(({ labels, value, part }) => {
    const pairs = Object.entries(labels).map(
      ([label, text]) => `${label}="${escaped(text).replaceAll('"', '\\"')}"`,
    );
    const braces = pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
    return `${name}${part === undefined ? '' : `_${part}`}${braces} ${value}`;
  });
  return [`# HELP ${name} ${escaped(help)}`, `# TYPE ${name} ${type}`, ...samples].join('\n');
}

function escaped(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
}

import { observabilityBounds } from '../bounds/common.ts';
import { ownVersion } from '../process.ts';
import { type MetricName, metricCatalogue } from './catalogue.ts';

/** One value of a metric. Its labels never name a partner, a customer or a key. */
export interface Reading {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
  /** The part of a histogram: the count of values up to the label `le`, the sum, or the count of all. */
  readonly part?: 'bucket' | 'sum' | 'count';
}

/** Numbers for operators, counted where something happens and read when they are scraped. */
export interface Metric {
  readonly name: MetricName;
  read(): readonly Reading[];
}

/** The values of a metric in one process, which can be sent to another process. */
export interface MetricRead {
  readonly name: MetricName;
  readonly readings: readonly Reading[];
}

export function readMetrics(metrics: readonly Metric[]): MetricRead[] {
  return metrics.map(({ name, read }) => ({ name, readings: read() }));
}

/** Metrics in the text format of Prometheus. The values of several processes become one metric. */
export function exposition(metrics: readonly MetricRead[]): string {
  const byName = Map.groupBy(metrics, ({ name }) => name);
  const texts = Array.from(byName, ([name, same]) => metricText(name, same));
  return `${texts.join('\n\n')}\n`;
}

function metricText(name: MetricName, processes: readonly MetricRead[]): string {
  const { help, type } = metricCatalogue[name];
  const readings = processes.flatMap((metric) => metric.readings);
  const samples = readings.map(({ labels, value, part }) => {
    const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escaped(text)}"`);
    const braces = pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
    return `${name}${part === undefined ? '' : `_${part}`}${braces} ${value}`;
  });
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...samples].join('\n');
}

function escaped(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"');
}

/** Reads one number, or a number for each value of the metric's label. */
type ReadValues = () => number | Readonly<Record<string, number>>;

/** A metric of the catalogue without labels or with one label. */
export function metric(name: MetricName, read: ReadValues): Metric {
  const [label = ''] = Object.keys(metricCatalogue[name].labels ?? {});
  return metricOf(name, () => readingsOf(read(), label));
}

/** A metric of the catalogue, read with its labels. */
export function metricOf(name: MetricName, read: () => readonly Reading[]): Metric {
  return { name, read };
}

function readingsOf(values: ReturnType<ReadValues>, label: string): Reading[] {
  if (typeof values === 'number') return [{ labels: {}, value: values }];
  return Object.entries(values).map(([of, value]) => ({ labels: { [label]: of }, value }));
}

export type Histogram = ReturnType<typeof createHistogram>;

/** Observing takes a few comparisons and two additions. Reading makes the cumulative counts of Prometheus. */
export function createHistogram(upperBounds: readonly number[]) {
  const counts = new Float64Array(upperBounds.length + 1);
  let sum = 0;
  return {
    observe(value: number): void {
      let bucket = 0;
      while (bucket < upperBounds.length && value > upperBounds[bucket]!) bucket += 1;
      counts[bucket]! += 1;
      sum += value;
    },
    read(labels: Reading['labels'] = {}): Reading[] {
      let count = 0;
      const buckets = [...upperBounds, '+Inf'].map((bound, index): Reading => {
        count += counts[index]!;
        return { labels: { ...labels, le: String(bound) }, value: count, part: 'bucket' };
      });
      return [...buckets, { labels, value: sum, part: 'sum' }, { labels, value: count, part: 'count' }];
    },
  };
}

const delaysSeconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];

/** Memory, CPU time, start time and event loop delay of this process. */
export function watchThisProcess() {
  const delays = createHistogram(delaysSeconds);
  const stop = measureDelays((seconds) => delays.observe(seconds));
  return {
    metrics: [
      metricOf('partner_network_event_loop_delay_seconds', () => delays.read()),
      metric('process_resident_memory_bytes', () => process.memoryUsage.rss()),
      metric('process_cpu_seconds_total', () => {
        const { user, system } = process.cpuUsage();
        return (user + system) / 1e6;
      }),
      metric('process_start_time_seconds', () => performance.timeOrigin / 1_000),
    ],
    close: stop,
  };
}

/**
 * Reports at every tick how late it is. Skipped ticks are late, too, each by one tick less than the previous
 * one. Otherwise a standstill of a second would count as one tick, and a second without delay as ten.
 */
function measureDelays(report: (seconds: number) => void): () => void {
  const tickMs = observabilityBounds.eventLoopTickMs;
  let dueMs = performance.now() + tickMs;
  const timer = setInterval(() => {
    const nowMs = performance.now();
    let lateMs = Math.max(nowMs - dueMs, 0);
    do {
      report(lateMs / 1_000);
      lateMs -= tickMs;
    } while (lateMs > 0);
    dueMs = nowMs + tickMs;
  }, tickMs).unref();
  return () => clearInterval(timer);
}

/** A metric that is always 1. Its labels are our version, Node's, the environment and the engine. */
export function buildInfo(environment: string, engine: string): Metric {
  const labels = { version: ownVersion(), node: process.versions.node, environment, engine };
  return metricOf('partner_network_build_info', () => [{ labels, value: 1 }]);
}

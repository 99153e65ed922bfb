import { type MetricName, metricCatalogue } from './catalogue.ts';

/** One value of a metric. Its labels never name a partner, a customer or a key. */
export interface Reading {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
  /** The part of a histogram: the count of values up to the label `le`, the sum, or the count of all. */
  readonly part?: 'bucket' | 'sum' | 'count';
}

interface Description {
  /** The metrics of a process have the names that dashboards expect of every process. */
  readonly name: `partner_network_${string}` | `process_${string}`;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
}

/** Numbers for operators, counted where something happens and read when they are scraped. */
export interface Metric extends Description {
  read(): readonly Reading[];
}

/** A metric with its values, which can be sent from one process to another. */
export interface MetricRead extends Description {
  readonly readings: readonly Reading[];
}

export function readMetrics(metrics: readonly Metric[]): MetricRead[] {
  return metrics.map(({ read, ...description }) => ({ ...description, readings: read() }));
}

/** Joins the metrics of several processes: one metric for each name, with all readings. */
export function joinedMetrics(metrics: readonly MetricRead[]): MetricRead[] {
  return Object.values(Object.groupBy(metrics, ({ name }) => name)).map((same) => ({
    ...same![0]!,
    readings: same!.flatMap(({ readings }) => readings),
  }));
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
  const { type, help } = metricCatalogue[name];
  return { name, type, help, read };
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

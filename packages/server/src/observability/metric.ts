/** One value of a metric. Its labels never name a partner, a customer or a key. */
export interface Reading {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
  /** Of which part of a histogram it is: so many were no larger than `le`, their sum, how many they were. */
  readonly part?: 'bucket' | 'sum' | 'count';
}

interface Description {
  /** A process says of itself what every process does by the names that all dashboards know. */
  readonly name: `partner_network_${string}` | `process_${string}`;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly labels: readonly string[];
}

/** What operators can read of a part of the service: numbers, counted where it happens, read when asked. */
export interface Metric extends Description {
  read(): readonly Reading[];
}

/** A metric as it was read, which can be sent from one process to another. */
export interface MetricRead extends Description {
  readonly readings: readonly Reading[];
}

export function readMetrics(metrics: readonly Metric[]): MetricRead[] {
  return metrics.map(({ name, help, type, labels, read }) => ({
    name,
    help,
    type,
    labels,
    readings: read(),
  }));
}

/** One metric of each name, with the readings of all processes. */
export function joinedMetrics(metrics: readonly MetricRead[]): MetricRead[] {
  return Object.values(Object.groupBy(metrics, ({ name }) => name)).map((same) => ({
    ...same![0]!,
    labels: [...new Set(same!.flatMap(({ labels }) => labels))],
    readings: same!.flatMap(({ readings }) => readings),
  }));
}

/** A metric of one value. */
export function singleMetric(
  name: Metric['name'],
  type: 'counter' | 'gauge',
  help: string,
  value: () => number,
): Metric {
  return { name, help, type, labels: [], read: () => [{ labels: {}, value: value() }] };
}

/** A metric of a value for each of some names, which its label tells. */
export function metricByLabel(
  name: Metric['name'],
  type: 'counter' | 'gauge',
  help: string,
  label: string,
  values: () => Readonly<Record<string, number>>,
): Metric {
  const read = () => Object.entries(values()).map(([of, value]) => ({ labels: { [label]: of }, value }));
  return { name, help, type, labels: [label], read };
}

/** How often a value was how large. */
export interface Histogram {
  observe(value: number): void;
  read(labels?: Reading['labels']): Reading[];
}

/** To observe costs a few comparisons and two additions: what Prometheus wants is summed up when asked. */
export function createHistogram(upperBounds: readonly number[]): Histogram {
  const counts = new Float64Array(upperBounds.length + 1);
  let sum = 0;
  return {
    observe(value) {
      let bucket = 0;
      while (bucket < upperBounds.length && value > upperBounds[bucket]!) bucket += 1;
      counts[bucket]! += 1;
      sum += value;
    },
    read(labels = {}) {
      let count = 0;
      const buckets = [...upperBounds, '+Inf'].map((bound, index): Reading => {
        count += counts[index]!;
        return { labels: { ...labels, le: String(bound) }, value: count, part: 'bucket' };
      });
      return [...buckets, { labels, value: sum, part: 'sum' }, { labels, value: count, part: 'count' }];
    },
  };
}

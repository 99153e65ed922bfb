/** One value of a metric. Its labels never name a partner, a customer or a key. */
export interface Reading {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

interface Description {
  readonly name: `partner_network_${string}`;
  readonly help: string;
  readonly type: 'counter' | 'gauge';
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

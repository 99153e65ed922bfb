/** One value of a metric. Its labels never name a partner, a customer or a key. */
export interface Reading {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** What operators can read of a part of the service: counted as plain numbers where it happens, read when asked. */
export interface Metric {
  readonly name: `partner_network_${string}`;
  readonly help: string;
  readonly type: 'counter' | 'gauge';
  readonly labels: readonly string[];
  read(): readonly Reading[];
}

/** Statistics over many numbers, and how they are printed. */

/** The value below which this share of the values lies; NaN if there are no values. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}

export const median = (values: readonly number[]) => quantile(values, 0.5);

export interface Spread {
  readonly median: number;
  readonly low: number;
  readonly high: number;
}

export function spreadOf(values: readonly number[]): Spread {
  return { median: median(values), low: Math.min(...values), high: Math.max(...values) };
}

export const percent = (share: number) => `${(share * 100).toFixed(0)} %`;

export const ms = (value: number) => `${value.toFixed(value < 10 ? 2 : 0)} ms`;

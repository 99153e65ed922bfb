/** How well two series of times can be distinguished, with a confidence interval. */
import { quantile } from '../lib/statistics.ts';

export interface Estimate {
  readonly value: number;
  readonly low: number;
  readonly high: number;
}

/** Neighboring rounds are correlated (they share the machine's load), so they are resampled together. */
const roundsOfBlock = 50;
const resamples = 1_000;
const confidence = 0.99;

/**
 * The share of rounds in which the second time is longer: 0.5 if the two cannot be distinguished. Only the
 * order counts, so outliers have no weight. The interval is a block bootstrap.
 */
export function shareSlower(
  first: readonly number[],
  second: readonly number[],
  random: () => number,
): Estimate {
  const blocks: number[] = [];
  for (let start = 0; start + roundsOfBlock <= first.length; start += roundsOfBlock) {
    let slower = 0;
    for (let round = start; round < start + roundsOfBlock; round += 1) {
      if (second[round]! > first[round]!) slower += 1;
      else if (second[round] === first[round]) slower += 0.5;
    }
    blocks.push(slower / roundsOfBlock);
  }
  const drawn = Array.from({ length: resamples }, () =>
    meanOf(blocks.map(() => blocks[Math.floor(random() * blocks.length)]!)),
  );
  const tail = (1 - confidence) / 2;
  return { value: meanOf(blocks), low: quantile(drawn, tail), high: quantile(drawn, 1 - tail) };
}

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

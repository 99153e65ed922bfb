import { PerformanceObserver } from 'node:perf_hooks';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { commandLineBounds } from '../bounds/command-line.ts';

/**
 * For commands through which rows stream, each of which lives for a moment. V8 lets its space for new objects
 * grow to 64 MiB then, holds on to what is in it, and is no faster for it: to export a million rows of
 * Postgres took 330 MB with that growth, and takes 140 without.
 */
export function keepYoungSpaceSmall(): void {
  setFlagsFromString('--semi-space-growth-factor=1');
}

/**
 * For who serves: lets that space grow until what is under way has room in it, and no further. The size at
 * the start is too small: answers that are being sent would pass for old objects, which are collected late.
 * 200,000 pages of brands took 220 to 244 MB without a bound, and take a third less. Each collection is small
 * then, and is left to one thread, which is no slower; at half of the bound a request cost a seventh more.
 */
export function boundYoungSpace(): void {
  setFlagsFromString('--no-parallel-scavenge');
  let mayGrow = true;
  // After each collection, by which V8 lets it grow or, when there is nothing to do, shrink.
  const look = () => {
    if (mayGrow === isYoungSpaceSmall()) return;
    mayGrow = !mayGrow;
    setFlagsFromString(`--semi-space-growth-factor=${mayGrow ? 2 : 1}`);
  };
  new PerformanceObserver(look).observe({ entryTypes: ['gc'] });
}

function isYoungSpaceSmall(): boolean {
  const young = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space');
  return young!.space_size < commandLineBounds.youngSpaceBytes;
}

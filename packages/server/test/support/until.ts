import assert from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';

/** Resolves to the milliseconds until it holds; within the limit it must. */
export async function until(limitMs: number, holds: () => boolean | Promise<boolean>): Promise<number> {
  const startedMs = performance.now();
  while (!(await holds())) {
    assert.ok(performance.now() - startedMs < limitMs, `not within ${limitMs} ms`);
    await wait(5);
  }
  return performance.now() - startedMs;
}

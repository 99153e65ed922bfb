/** Sends random inputs to a part of the service, and finds the smallest input that breaks a promise. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import fc, { type IRawProperty } from 'fast-check';
import type { Lifetime } from '../../packages/testkit/fixtures/lifetime.ts';

/** A part of the service to fuzz. */
export interface Target {
  readonly name: string;
  /** What must hold for every input. */
  readonly promise: string;
  /** The number of inputs per seed: about a second of work. */
  readonly batchRuns: number;
  open(lifetime: Lifetime): Promise<OpenTarget>;
}

interface OpenTarget {
  /** Makes inputs and checks the result of each. */
  readonly property: IRawProperty<unknown>;
  /** Checks what must hold after a batch of inputs; throws if it does not. */
  afterBatch(): Promise<void>;
}

interface RunOptions {
  readonly seed: number;
  readonly untilMs: number;
  /** Repeats one input: the path that a failure reported. */
  readonly path?: string | undefined;
}

export const largestSeed = 0x7fff_ffff;

/**
 * Sends batches with consecutive seeds until the time is over, at least one. Resolves to the number of
 * inputs. Rejects with the smallest input that breaks a promise, its seed and its path.
 */
export async function runTarget(target: Target, lifetime: Lifetime, options: RunOptions): Promise<number> {
  const { property, afterBatch } = await target.open(lifetime);
  const { path, untilMs } = options;
  const batch = path === undefined ? { numRuns: target.batchRuns } : { path, endOnFailure: true };
  let inputs = 0;
  for (let { seed } = options; ; seed = (seed + 1) % (largestSeed + 1)) {
    await fc.assert(property, { seed, ...batch });
    await afterBatch().catch((cause) => {
      throw new Error(`All inputs of seed ${seed} together: ${cause.message}`, { cause });
    });
    inputs += target.batchRuns;
    if (path !== undefined || performance.now() >= untilMs) return inputs;
    // A batch may run without any await: let signal handlers run between batches.
    await nextTurn();
  }
}

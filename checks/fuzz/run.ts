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
  /** The number of inputs; unlimited by default. */
  readonly runs?: number | undefined;
  readonly untilMs?: number | undefined;
  /** Repeats one input: the path that a failure reported. */
  readonly path?: string | undefined;
}

export interface Outcome {
  readonly inputs: number;
  readonly elapsedMs: number;
  readonly failure?: Failure;
}

export interface Failure {
  /** The seed and the path that make this input again. */
  readonly seed: number;
  readonly path: string | undefined;
  readonly input: string;
  readonly reason: string;
}

export const largestSeed = 0x7fff_ffff;

/** Sends inputs to a target, in batches with consecutive seeds. */
export async function runTarget(target: Target, lifetime: Lifetime, options: RunOptions): Promise<Outcome> {
  const { property, afterBatch } = await target.open(lifetime);
  const startedMs = performance.now();
  const { runs = Number.POSITIVE_INFINITY, untilMs = Number.POSITIVE_INFINITY } = options;
  let inputs = 0;
  const outcome = (failure?: Failure): Outcome => ({
    inputs,
    elapsedMs: performance.now() - startedMs,
    ...(failure && { failure }),
  });

  for (
    let seed = options.seed;
    inputs < runs && performance.now() < untilMs;
    seed = (seed + 1) % (largestSeed + 1)
  ) {
    const details = await fc.check(property, {
      seed,
      numRuns: options.path === undefined ? Math.min(target.batchRuns, runs - inputs) : 1,
      ...(options.path !== undefined && { path: options.path }),
      ...(Number.isFinite(untilMs) && { interruptAfterTimeLimit: Math.max(0, untilMs - performance.now()) }),
      endOnFailure: options.path !== undefined,
    });
    inputs += Math.max(1, details.numRuns);
    if (details.failed) return outcome(failureOf(details));
    try {
      await afterBatch();
    } catch (error) {
      const input = `all inputs of seed ${seed} together`;
      return outcome({ seed, path: undefined, input, reason: reasonOf(error) });
    }
    // A batch may run without any await: let signal handlers run between batches.
    await nextTurn();
    if (options.path !== undefined) break;
  }
  return outcome();
}

function failureOf(details: fc.RunDetails<unknown>): Failure {
  return {
    seed: details.seed,
    path: details.counterexamplePath ?? undefined,
    input: fc.stringify(details.counterexample),
    reason: reasonOf(details.errorInstance),
  };
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

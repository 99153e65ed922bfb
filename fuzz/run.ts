import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import type { Lifetime } from '../packages/testkit/fixtures/lifetime.ts';
import type { Target } from './target.ts';

interface RunOptions {
  readonly seed: number;
  /** Inputs in all; without it, as many as there is time for. */
  readonly runs?: number | undefined;
  readonly untilMs?: number | undefined;
  /** One input again: the place that a failure was told with. */
  readonly path?: string | undefined;
  /** Told every few moments how far it is. */
  onProgress?(outcome: Outcome): void;
}

export interface Outcome {
  readonly executions: number;
  readonly elapsedMs: number;
  readonly failure?: Failure;
}

export interface Failure {
  /** The seed and the place by which this very input is made again. */
  readonly seed: number;
  readonly path: string | undefined;
  readonly input: string;
  readonly reason: string;
}

export const largestSeed = 0x7fff_ffff;

/** After the largest come those from 0 on: each can be given by hand. */
export function seedAfter(seed: number, steps: number): number {
  return (seed + steps) % (largestSeed + 1);
}

/** Tries a target on input after input. Each batch has a seed of its own, the next one after the last. */
export async function runTarget(target: Target, lifetime: Lifetime, options: RunOptions): Promise<Outcome> {
  const { property, executions, settle } = await target.open(lifetime);
  const startedMs = performance.now();
  const { runs = Number.POSITIVE_INFINITY, untilMs = Number.POSITIVE_INFINITY } = options;
  let inputs = 0;
  const outcome = (failure?: Failure): Outcome => ({
    executions: executions?.() ?? inputs,
    elapsedMs: performance.now() - startedMs,
    ...(failure && { failure }),
  });

  for (let seed = options.seed; inputs < runs && performance.now() < untilMs; seed = seedAfter(seed, 1)) {
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
      await settle?.();
    } catch (error) {
      const input = `all inputs of seed ${seed} together`;
      return outcome({ seed, path: undefined, input, reason: reasonOf(error) });
    }
    options.onProgress?.(outcome());
    // A batch may never wait for anything: without a turn of the loop between them no signal would be heard.
    await turn();
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

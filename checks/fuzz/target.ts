import type { IRawProperty } from 'fast-check';
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
  /** The number of executions so far, if an input has several parts. */
  executions?(): number;
  /** Checks what must hold after a batch of inputs; throws if it does not. */
  afterBatch?(): Promise<void>;
}

import type { IRawProperty } from 'fast-check';
import type { Lifetime } from '../packages/testkit/fixtures/lifetime.ts';

/** A part of the service, what is sent to it, and what is held against what comes of that. */
export interface Target {
  readonly name: string;
  /** What no input may break. */
  readonly promise: string;
  /** Inputs that are tried with one seed, before the next one: as many as take a second or so. */
  readonly batchRuns: number;
  open(lifetime: Lifetime): Promise<OpenTarget>;
}

interface OpenTarget {
  /** Inputs, and the judgement of each; with an input that has many parts, an execution is one of them. */
  readonly property: IRawProperty<unknown>;
  /** Executions so far, where an input is more than one. */
  executions?(): number;
  /** What must hold after many inputs; throws where it does not. */
  settle?(): Promise<void>;
}

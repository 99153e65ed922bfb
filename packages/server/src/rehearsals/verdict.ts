import type { ScenarioName } from './scenarios.ts';

/** What a client promises in every scenario. The names are public and stable. */
export const promiseNames = [
  'reached-the-last-page',
  'waited-as-asked',
  'resumed',
  'did-not-hammer',
  'stopped-on-final-errors',
  'kept-its-key',
] as const;

export type PromiseName = (typeof promiseNames)[number];

/** `pending`: neither kept nor broken by the requests so far. A promise that cannot be broken is kept. */
export interface PromiseVerdict {
  readonly name: PromiseName;
  readonly verdict: 'kept' | 'broken' | 'pending';
  /** One sentence. */
  readonly reason: string;
}

/** The answer to `GET /rehearsals/SCENARIO.RUN`. */
export interface Verdict {
  readonly scenario: ScenarioName;
  readonly run: string;
  readonly requests: readonly {
    readonly at: string;
    readonly method: string;
    /** Path and query without secrets. */
    readonly path: string;
    readonly status: number;
  }[];
  /** All six, in the order of `promiseNames`. */
  readonly promises: readonly PromiseVerdict[];
}

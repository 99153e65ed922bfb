/** What a conformance case is, and what it results in. */
import type { Variable } from './given.ts';
import type { Probe } from './probe.ts';
import type { Answer } from './send.ts';

export type Profile = 'specification' | 'decisions';

export interface Case {
  /** Stable, for example `brands.limit.zero`. */
  readonly id: string;
  /** A number of the specification, such as `4.3.2`, or a topic of our own decisions, such as `Errors`. */
  readonly section: string;
  /** `specification` cases run in both profiles. */
  readonly profile: Profile;
  readonly title: string;
  /** Without all of these, the case is skipped. */
  readonly needs: readonly (Variable | '--burst')[];
  /** Throws a `Failure` if the promise is broken, and a `Skip` if this deployment cannot show it. */
  check(probe: Probe): Promise<void>;
}

/**
 * The message completes "Expected …" in reports, so it must not repeat anything that the service sent. The
 * cause is the answer that breaks the promise.
 */
export class Failure extends Error {
  declare readonly cause: Answer;
}

/** Ends a case that this deployment cannot show. Its message says what is missing. */
export class Skip extends Error {}

/** One case of the report, as --json prints it. It contains no value of a real deployment. */
export interface CaseResult extends Pick<Case, 'id' | 'section' | 'title'> {
  readonly status: 'passed' | 'failed' | 'skipped' | 'expected';
  /** Of a failed case. */
  readonly request?: string;
  readonly answer?: string;
  readonly expected?: string;
  /** Of a skipped case: the variable that would allow it, or what else is missing. */
  readonly variable?: string;
}

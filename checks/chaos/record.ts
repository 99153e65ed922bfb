import type { Span } from '../../packages/testkit/fixtures/spans.ts';
import type { Ending } from '../../packages/testkit/servers/instance.ts';
import type { History } from './history.ts';
import type { Answer, Walk } from './recorder.ts';
import type { Applied } from './stage/faults.ts';

/** The record of a run, which is judged. */
export interface Run {
  readonly startedMs: number;
  /** When load and writers stopped. The last walks come later. */
  readonly endedMs: number;
  readonly faults: readonly Applied[];
  /** When the machine stalled, which is not a fault of the service. */
  readonly stalls: readonly Span[];
  /** When an instance lost Redis or got it back. */
  readonly redisSwitches: readonly Span[];
  readonly history: History;
  readonly recorder: { readonly answers: readonly Answer[]; readonly walks: readonly Walk[] };
  readonly instances: readonly { readonly name: string; readonly endings: readonly Ending[] }[];
  /** The request ids of all receipts. */
  readonly receipts: ReadonlySet<string>;
  /** Parts that did not recover, a sentence each. */
  readonly unrecovered: readonly string[];
  /** Log lines of the instances. */
  readonly logs: readonly string[];
}

/** Time after the last fault in which all parts must recover, including the balancer's checks. */
export const recoveryMs = 5_000;

/** The verdict on a promise: how much was checked, and what broke it. */
export interface Verdict {
  readonly promise: string;
  /** The number of things checked, and their name. */
  readonly judged: number;
  readonly what: string;
  readonly violations: readonly Violation[];
}

export interface Violation {
  readonly atMs: number;
  readonly text: string;
}

export function verdictOf(
  promise: string,
  what: string,
  judged: number,
  violations: readonly (Violation | undefined)[],
): Verdict {
  return { promise, what, judged, violations: violations.filter((violation) => violation !== undefined) };
}

/** The request in a line of an instance's log; empty for other lines. */
export function requestIn(line: string) {
  const { operation, partner_id, status, time, duration_ms } = fieldsIn(line);
  if (typeof status !== 'number' || typeof duration_ms !== 'number') return [];
  const receivedMs = typeof time === 'number' ? time : Date.parse(String(time));
  return [{ operation, partnerId: partner_id, status, sentMs: receivedMs - duration_ms, receivedMs }];
}

/** Empty for a line that is not JSON, or that a kill has cut off. */
function fieldsIn(line: string): Record<string, unknown> {
  try {
    return JSON.parse(line);
  } catch {
    return {};
  }
}

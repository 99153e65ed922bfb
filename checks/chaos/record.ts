/** The record of a run: every answer that clients got, including those that they retried, and the rest. */
import { appendFileSync } from 'node:fs';
import { now } from '../../packages/testkit/fixtures/lifetime.ts';
import type { Span } from '../../packages/testkit/fixtures/spans.ts';
import type { Ending } from '../../packages/testkit/servers/instance.ts';
import type { History } from './history.ts';
import type { Applied } from './stage/faults.ts';
import type { PartnerId } from './world.ts';

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

/** A request for a page. A walk requests many pages, one after the other. */
export interface PageRequest {
  readonly walk: number;
  readonly listing: 'brands' | 'balances';
  readonly partnerId: PartnerId;
  readonly keyId: string;
  readonly limit: number;
  readonly referenceId?: string | undefined;
  readonly customerId?: string | undefined;
  /** 0 for the first page. */
  readonly page: number;
  /** The last id of the previous page. */
  readonly after?: string | undefined;
}

export interface Answer extends PageRequest {
  readonly sentMs: number;
  readonly receivedMs: number;
  /** 0 without a complete answer. */
  readonly status: number;
  /** Undefined for answers of the balancer itself. */
  readonly requestId?: string | undefined;
  readonly servedBy?: string | undefined;
  /** Whether it reached the rate limiter. */
  readonly isLimited: boolean;
  readonly body: string;
}

export interface Walk {
  readonly walk: number;
  /** Whether the client reached the last page. */
  readonly isComplete: boolean;
  /** Made after the run, when no fault or load is active: it must reach the last page. */
  readonly isLast: boolean;
}

export type Recorder = ReturnType<typeof createRecorder>;

export function createRecorder(logPath?: string) {
  const answers: Answer[] = [];
  const walks: Walk[] = [];
  function keep(answer: Answer): void {
    answers.push(answer);
    if (logPath !== undefined) appendFileSync(logPath, `${JSON.stringify(answer)}\n`);
  }
  return {
    answers,
    walks,
    end: (walk: Walk) => walks.push(walk),
    /** A fetch function that records each answer with its request. */
    fetchFor: (currentRequest: () => PageRequest) => async (url: string, init: RequestInit) => {
      const request = currentRequest();
      const sentMs = now();
      try {
        const response = await fetch(url, init);
        const body = await response.text();
        const { status, headers } = response;
        keep({
          ...request,
          sentMs,
          receivedMs: now(),
          status,
          requestId: headers.get('x-request-id') ?? undefined,
          servedBy: headers.get('x-served-by') ?? undefined,
          isLimited: headers.has('ratelimit'),
          body,
        });
        return new Response(body, { status, headers });
      } catch (error) {
        const body = String((error as Error).cause ?? error);
        keep({ ...request, sentMs, receivedMs: now(), status: 0, isLimited: false, body });
        throw error;
      }
    },
  };
}

/** Records every answer that clients got, including those that they retried. */
import { appendFileSync } from 'node:fs';
import { now } from '../../packages/testkit/fixtures/clock.ts';
import type { PartnerId } from './world.ts';

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

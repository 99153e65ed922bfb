import type { RehearsalsBounds } from './bounds.ts';
import { type Response, waitOf } from './faults.ts';
import type { ScenarioName } from './scenarios.ts';
import { type PromiseName, type PromiseVerdict, promiseNames } from './verdict.ts';

/** A request of a run. */
export interface SeenRequest {
  readonly atMs: number;
  /** The same by `performance.now()`. */
  readonly startedMs: number;
  readonly method: string;
  /** Path and query without secrets. */
  readonly path: string;
  /** Digests of the method, path and query, and of the cursor. */
  readonly digest: string;
  readonly cursor: string | undefined;
  /** Undefined until the response is sent. */
  status?: number;
}

/** What the faults of a scenario test, and the number of faults. */
const tested: Partial<Record<ScenarioName, readonly [faults: number, ...PromiseName[]]>> = {
  'rate-limited': [2, 'waited-as-asked', 'resumed'],
  unavailable: [2, 'waited-as-asked', 'resumed'],
  'server-error': [1, 'resumed'],
  'bad-gateway': [1, 'resumed'],
  torn: [1, 'resumed'],
  stalled: [1, 'resumed'],
  'expired-cursor': [1, 'resumed', 'stopped-on-final-errors'],
  'key-revoked': [1, 'stopped-on-final-errors'],
  'grant-revoked': [1, 'stopped-on-final-errors'],
  'unknown-error': [1, 'stopped-on-final-errors'],
  redirect: [1, 'kept-its-key'],
};

/** Scenarios in which a client may stop before the last page. */
const endEarly: readonly ScenarioName[] = ['key-revoked', 'grant-revoked', 'unknown-error', 'redirect'];

const keptReasons: Readonly<Record<PromiseName, string>> = {
  'reached-the-last-page': 'The last page was sent completely.',
  'waited-as-asked': 'The client waited for as long as it was asked to.',
  resumed: 'The client went on where it failed.',
  'did-not-hammer': 'No page was requested too often, and no request came too soon after a failure.',
  'stopped-on-final-errors': 'The client did what the error asked for.',
  'kept-its-key': 'The key was only in the Authorization header, and at no other address.',
};

const isRetryable = (status: number) => status === 408 || status === 429 || status >= 500;
const listingOf = ({ path }: SeenRequest) => path.split('?', 1)[0];

/** Judges the client of one run, request by request. */
export class Judge {
  /** Faults of the scenario so far. */
  faults = 0;
  #requests = 0;
  /** The reason of each broken promise. A broken promise stays broken. */
  readonly #broken = new Map<PromiseName, string>();
  #isLastPageSent = false;
  /** The newest response that asked for a wait, until the next request. */
  #asked: { readonly sentMs: number; readonly waitMs: number } | undefined;
  #failedMs = Number.NEGATIVE_INFINITY;
  #final: { readonly sentMs: number; readonly status: number } | undefined;
  /** Failed requests that the client has not sent again. */
  readonly #failures: SeenRequest[] = [];
  /** The newest refused cursor, and how often the client has started over since. */
  #refused: { readonly cursor: string | undefined; restarts: number } | undefined;
  readonly #scenario: ScenarioName;
  readonly #bounds: RehearsalsBounds;

  constructor(scenario: ScenarioName, bounds: RehearsalsBounds) {
    this.#scenario = scenario;
    this.#bounds = bounds;
  }

  breaks(promise: PromiseName, reason: string): void {
    if (!this.#broken.has(promise)) this.#broken.set(promise, reason);
  }

  /** Judges a request that has arrived. A response that was sent later does not count. */
  request(request: SeenRequest, earlier: number, hasKeyElsewhere: boolean): void {
    const { pageRequests, hammerMs, timerToleranceMs } = this.#bounds;
    const since = (ms: number) => Math.floor(request.startedMs - ms);
    this.#requests += 1;
    const name = `Request ${this.#requests}`;
    if (hasKeyElsewhere)
      this.breaks('kept-its-key', `${name} had a key outside of the Authorization header.`);
    if (earlier >= pageRequests) {
      this.breaks('did-not-hammer', `${name} was for a page that was requested ${earlier} times before.`);
    }
    const afterMs = since(this.#failedMs);
    if (afterMs >= 0 && afterMs < hammerMs) {
      const rule = `must come after ${hammerMs} ms at the earliest`;
      this.breaks('did-not-hammer', `${name} came ${afterMs} ms after a failure, and ${rule}.`);
    }
    if (this.#asked !== undefined && since(this.#asked.sentMs) >= 0) {
      const { sentMs, waitMs } = this.#asked;
      if (since(sentMs) < waitMs - timerToleranceMs) {
        const reason = `${name} came after ${since(sentMs)} ms, and the response asked for ${waitMs} ms.`;
        this.breaks('waited-as-asked', reason);
      }
      this.#asked = undefined;
    }
    if (this.#final !== undefined && since(this.#final.sentMs) >= 0) {
      const reason = `${name} came after a final error with status ${this.#final.status}.`;
      this.breaks('stopped-on-final-errors', reason);
    }
    this.#judgeResumption(request, name);
  }

  #judgeResumption(request: SeenRequest, name: string): void {
    const again = this.#failures.findIndex(({ digest }) => digest === request.digest);
    if (again !== -1) {
      this.#failures.splice(again, 1);
    } else if (request.cursor !== undefined) {
      const isRefused = request.cursor === this.#refused?.cursor;
      if (isRefused) this.breaks('stopped-on-final-errors', `${name} sent the refused cursor again.`);
    } else if (this.#refused !== undefined) {
      this.#refused.restarts += 1;
      if (this.#refused.restarts <= 1) return;
      const reason = `${name} started over again after INVALID_CURSOR, and once is allowed.`;
      this.breaks('resumed', reason);
      this.breaks('stopped-on-final-errors', reason);
    } else {
      const isInstead = (failed: SeenRequest) =>
        failed.cursor !== undefined && listingOf(failed) === listingOf(request);
      if (this.#failures.some(isInstead)) {
        this.breaks('resumed', `${name} started over, and the failed request was not sent again.`);
      }
    }
  }

  /** Remembers what the client has to do about a response. */
  response(request: SeenRequest, response: Response, sentMs: number): void {
    const { status, body, cut } = response;
    const waitMs = waitOf(response);
    if (waitMs !== undefined) this.#asked = { sentMs, waitMs };
    if (cut !== undefined || isRetryable(status)) {
      this.#failures.push(request);
      if (this.#failures.length > this.#bounds.runFailures) this.#failures.shift();
    }
    if (status === 400 && body.includes('"code":"INVALID_CURSOR"')) {
      // The error says to start again. The client may do so at once.
      this.#refused = { cursor: request.cursor, restarts: 0 };
    } else if (status >= 400) {
      this.#failedMs = sentMs;
      if (!isRetryable(status)) this.#final ??= { sentMs, status };
    }
  }

  /** A response that breaks off is a failure from the moment when its connection is closed. */
  closed(request: SeenRequest, closedMs: number, isTooLate: boolean): void {
    this.#failedMs = closedMs;
    if (!isTooLate || !this.#failures.includes(request)) return;
    this.breaks('resumed', 'The client did not time out: the sandbox had to close the connection.');
  }

  lastPageSent(): void {
    this.#isLastPageSent = true;
    // From now on, a request without a cursor begins another walk.
    if (this.#refused !== undefined) this.#refused.restarts = Number.NEGATIVE_INFINITY;
  }

  /** All promises, with one sentence about each. */
  promises(): PromiseVerdict[] {
    return promiseNames.map((name) => {
      const broken = this.#broken.get(name);
      if (broken !== undefined) return { name, verdict: 'broken', reason: broken };
      const pending = this.#whyPending(name);
      if (pending !== undefined) return { name, verdict: 'pending', reason: pending };
      return { name, verdict: 'kept', reason: this.#whyKept(name) };
    });
  }

  #whyPending(name: PromiseName): string | undefined {
    if (this.#requests === 0) return 'No request has come yet.';
    const [faults, ...promises] = tested[this.#scenario] ?? [0];
    if (this.faults < faults && promises.includes(name)) {
      return `Fault ${this.faults + 1} of ${faults} has not happened yet: request more pages.`;
    }
    if (name === 'reached-the-last-page' && !this.#isLastPageSent && !endEarly.includes(this.#scenario)) {
      return 'The last page has not been sent yet.';
    }
    if (name === 'waited-as-asked' && this.#asked !== undefined) {
      return 'No request has come since a response asked for a wait.';
    }
    if (name !== 'resumed') return undefined;
    if (this.#failures.length > 0) return 'The failed request has not been sent again yet.';
    const hasToStart = this.#scenario === 'expired-cursor' && this.#refused?.restarts === 0;
    return hasToStart ? 'The client has not started again without a cursor yet.' : undefined;
  }

  #whyKept(name: PromiseName): string {
    const [, ...promises] = tested[this.#scenario] ?? [0];
    const always = [
      'did-not-hammer',
      'kept-its-key',
      ...(this.#isLastPageSent ? ['reached-the-last-page'] : []),
    ];
    return [...always, ...promises].includes(name) ? keptReasons[name] : 'This scenario does not test it.';
  }
}

import { createHash, randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { holdsKey, maskKeys } from '@partner-network/common/text';
import { keyPattern } from '@partner-network/contract/environments';
import {
  keptReasons,
  type PromiseName,
  promiseNames,
  type RehearsalsBounds,
  rehearsalsBounds,
  type ScenarioName,
  scenarios,
  type Verdict,
} from './scenarios.ts';

/** What a rehearsal sends: the usual response of the service, or a fault in its place. */
export interface SentResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer;
  /** `torn`: only half of the body is sent. `stalled`: only the headers are sent. */
  readonly cut?: 'torn' | 'stalled';
  /** The outcome for the receipt. Undefined if records are sent, or a part of them. */
  readonly outcome?: string;
}

interface SeenRequest {
  /** The same for requests with the same method, path and query. */
  readonly id: string;
  readonly at: string;
  readonly method: string;
  /** Path and query without secrets. */
  readonly path: string;
  readonly hasCursor: boolean;
  /** By `performance.now()`. */
  readonly startedMs: number;
  /** Undefined until the response is sent. */
  status?: number;
  /** Whether the request repeats another one after the time for which a response asked. */
  isAsked?: boolean;
}

interface Failure {
  readonly request: SeenRequest;
  readonly isFinal: boolean;
  /** Milliseconds for which the response asks the client to wait. Undefined if it names no time. */
  readonly askedMs: number | undefined;
  /** Whether another request has come since. */
  isFollowed: boolean;
  /** When the response was sent or, if it breaks off, its connection was closed. */
  sentMs: number;
}

const withoutFault: readonly ScenarioName[] = ['steady', 'short-pages'];
/** Scenarios in which a client may stop before the last page. */
const endEarly: readonly ScenarioName[] = ['key-revoked', 'grant-revoked', 'unknown-error', 'redirect'];

export const digestOf = (text: string) => createHash('sha256').update(text).digest('base64');

const listingOf = ({ path }: SeenRequest) => path.split('?', 1)[0];

/** The requests of a client in one scenario, which are judged one by one. */
export class Run {
  /** Part of the address of a redirect, to recognize a request there. */
  readonly watchId = randomUUID();
  /** The newest requests, oldest first. */
  readonly requests: SeenRequest[] = [];
  usedMs = 0;
  /** Pages that the service made, and faults that were sent in their place. */
  pages = 0;
  faults = 0;
  /** The digest of the newest cursor that leads to page 3 or further. */
  thirdCursor: string | undefined;

  #count = 0;
  /** The reason of each broken promise. A broken promise stays broken. */
  readonly #broken = new Map<PromiseName, string>();
  #isLastPageSent = false;
  /** The newest failure, until the same request comes again. */
  #failure: Failure | undefined;
  /** The newest request with INVALID_CURSOR, and how often the client has started over since. */
  #refused: { readonly id: string; restarts: number } | undefined;

  /** Marks a promise as broken if the client did not keep it. */
  check(promise: PromiseName, isKept: boolean, reason: string): void {
    if (!isKept && !this.#broken.has(promise)) this.#broken.set(promise, reason);
  }

  /** Judges a request that has just come into the list. */
  judge(request: SeenRequest, hasKeyElsewhere: boolean): void {
    const { pageRequests, hammerMs, timerToleranceMs, timerStepMs } = rehearsalsBounds;
    this.#count += 1;
    const name = `Request ${this.#count}`;
    // A response that was sent after this request does not count.
    const failure = this.#failure && this.#failure.sentMs <= request.startedMs ? this.#failure : undefined;
    const afterMs = Math.floor(request.startedMs - (failure?.sentMs ?? Number.NEGATIVE_INFINITY));
    const { askedMs, isFinal = false } = failure ?? {};
    const hasWaited = afterMs >= (askedMs ?? 0) - timerToleranceMs;
    // A client that waited as asked has not hammered: the rate limit may ask for a few milliseconds.
    const pauseMs = askedMs === undefined ? hammerMs : Math.min(hammerMs, askedMs - timerStepMs);
    const isAgain = request.id === failure?.request.id;
    request.isAsked = isAgain && askedMs !== undefined && hasWaited && afterMs >= pauseMs;
    const sent = this.requests.filter(({ id, isAsked }) => id === request.id && !isAsked).length;

    this.check('kept-its-key', !hasKeyElsewhere, `${name} had a key outside of the Authorization header.`);
    this.check('did-not-hammer', sent <= pageRequests, `${name} was number ${sent} for the same page.`);
    const soon = `${name} came ${afterMs} ms after a failure, and must not come before ${pauseMs} ms.`;
    this.check('did-not-hammer', afterMs >= pauseMs, soon);
    const early = `${name} came after ${afterMs} ms, and the response asked for ${askedMs} ms.`;
    this.check('waited-as-asked', hasWaited, early);
    if (failure !== undefined) failure.isFollowed = true;
    this.check('stopped-on-final-errors', !isFinal, `${name} came after a final error.`);
    const again = `${name} sent the refused cursor again.`;
    this.check('stopped-on-final-errors', request.id !== this.#refused?.id, again);
    if (isAgain) {
      this.#failure = undefined;
    } else if (!request.hasCursor && this.#refused !== undefined) {
      this.#refused.restarts += 1;
      const twice = `${name} started over again after INVALID_CURSOR, and once is allowed.`;
      this.check('resumed', this.#refused.restarts <= 1, twice);
      this.check('stopped-on-final-errors', this.#refused.restarts <= 1, twice);
    } else if (!request.hasCursor && failure?.request.hasCursor && !isFinal) {
      // Another listing is another walk.
      const isOther = listingOf(failure.request) !== listingOf(request);
      this.check('resumed', isOther, `${name} started over, and the failed request was not sent again.`);
    }
  }

  /** Remembers what the client has to do about a response. */
  answer(request: SeenRequest, { status, headers, body, cut }: SentResponse, sentMs: number): void {
    request.status = status;
    if (status === 400 && body.includes('"code":"INVALID_CURSOR"')) {
      // The error says to start again. The client may do so at once.
      this.#refused = { id: request.id, restarts: 0 };
    } else if (status >= 400 || cut !== undefined) {
      const isFinal = status >= 400 && status < 500 && status !== 408 && status !== 429;
      this.#failure = { request, isFinal, askedMs: waitOf(headers), isFollowed: false, sentMs };
    }
  }

  /** A response that breaks off is a failure from the moment when its connection is closed. */
  close(request: SeenRequest, closedMs: number, isTooLate: boolean): void {
    if (this.#failure?.request !== request) return;
    this.#failure.sentMs = closedMs;
    const reason = 'The client did not time out: the sandbox had to close the connection.';
    this.check('resumed', !isTooLate, reason);
  }

  reachLastPage(): void {
    this.#isLastPageSent = true;
    // From now on, a request without a cursor begins another walk.
    this.#refused = undefined;
  }

  promises(scenario: ScenarioName): Verdict['promises'] {
    return promiseNames.map((name) => {
      const broken = this.#broken.get(name);
      if (broken !== undefined) return { name, verdict: 'broken', reason: broken };
      const missing = this.#missing(name, scenario);
      if (missing !== undefined) return { name, verdict: 'pending', reason: missing };
      const isUntested = name === 'reached-the-last-page' && !this.#isLastPageSent;
      const reason = isUntested ? 'This scenario does not test it.' : keptReasons[name];
      return { name, verdict: 'kept', reason };
    });
  }

  /** What has to happen until a promise can be kept. One fault is enough: a short walk never sees two. */
  #missing(name: PromiseName, scenario: ScenarioName): string | undefined {
    if (this.#count === 0) return 'No request has come.';
    const { listing = 'the listing' } = scenarios[scenario];
    if (this.faults === 0 && !withoutFault.includes(scenario))
      return `The fault has not happened: request more pages of ${listing}.`;
    if (endEarly.includes(scenario)) return undefined;
    if (name === 'reached-the-last-page' && !this.#isLastPageSent)
      return 'The client has not requested the last page.';
    if (name === 'resumed' && this.#refused?.restarts === 0)
      return 'The client has not started again without a cursor.';
    const { isFinal, askedMs, isFollowed } = this.#failure ?? {};
    const isAwaited = askedMs !== undefined && !isFollowed;
    const isTested = name === 'resumed' || (name === 'waited-as-asked' && isAwaited);
    if (isTested && isFinal === false) return 'The client has not sent the failed request again.';
    return undefined;
  }
}

function waitOf({ 'Retry-After-Ms': ms, 'Retry-After': seconds }: SentResponse['headers']) {
  if (ms !== undefined) return Number(ms);
  return seconds === undefined ? undefined : 1_000 * Number(seconds);
}

export type Runs = ReturnType<typeof createRuns>;

/** The runs of all partners, in memory. Of too many requests, those of the longest idle run are forgotten. */
export function createRuns(bounds: RehearsalsBounds, nowMs: () => number) {
  /** The longest idle run is first. */
  const runs = new Map<string, Run>();
  let requests = 0;

  function forget(): void {
    for (const [id, run] of runs) {
      const isIdle = nowMs() - run.usedMs >= bounds.runIdleMs;
      if (!isIdle && requests <= bounds.requests) return;
      runs.delete(id);
      requests -= run.requests.length;
    }
  }

  return {
    findWatched: (watchId: string) => runs.values().find((run) => run.watchId === watchId),

    /** Finds a run, without counting that as use. An unknown run is empty, and is not kept. */
    find(id: string): Run {
      forget();
      return runs.get(id) ?? new Run();
    },

    /** The run of a new request. */
    open(id: string): Run {
      const run = this.find(id);
      run.usedMs = nowMs();
      runs.delete(id);
      runs.set(id, run);
      return run;
    },

    add(run: Run, method: string, target: string, startedMs: number): SeenRequest {
      const request: SeenRequest = {
        id: digestOf(`${method} ${target}`),
        at: new Date(nowMs()).toISOString(),
        method,
        path: shownTarget(target, bounds.pathCharacters),
        hasCursor: /[?&]cursor=/.test(target),
        startedMs,
      };
      run.requests.push(request);
      if (run.requests.length > bounds.runRequests) run.requests.shift();
      else requests += 1;
      forget();
      return request;
    },
  };
}

/** A path with its query, with keys masked and cut to length. A cursor is shown, although it looks secret. */
function shownTarget(target: string, characters: number): string {
  // Cut first, because masking is slow. Nothing that is shown is further back, even if it is encoded.
  const shown = target.slice(0, 4 * characters).replace(/[^?&]+/g, (part) => {
    if (holdsKey(decoded(part))) return maskKeys(decoded(part));
    return part.startsWith('cursor=') ? part : maskKeys(part);
  });
  // A copy, because a part of a string keeps the whole string in memory.
  return Buffer.from(shown.slice(0, characters)).toString();
}

const keyForm = new RegExp(keyPattern);

/** The first text of the form of a key in the Authorization header, and in the rest of a request. */
export function keysIn({ url, headers: { authorization = '', ...others } }: IncomingMessage) {
  const keyIn = (text: string) => keyForm.exec(decoded(text))?.[0];
  return { inAuthorization: keyIn(authorization), elsewhere: keyIn(JSON.stringify([url, others])) };
}

/** Decodes percent-encoding where it is valid. */
function decoded(text: string): string {
  return text.replace(/%[0-9a-f]{2}/gi, (code) => String.fromCharCode(Number.parseInt(code.slice(1), 16)));
}

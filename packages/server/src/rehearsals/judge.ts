/** Judges a client by its requests: what it promises, and whether it has kept, broken or not yet shown it. */
import type { RehearsalsBounds } from './bounds.ts';
import type { ScenarioName } from './scenarios.ts';
import { type PromiseName, type PromiseVerdict, promiseNames } from './verdict.ts';

/** What is known of a client's conduct in one run. Times are of `performance.now()`. */
export interface Conduct {
  readonly scenario: ScenarioName;
  /** The reason of each broken promise. It stays broken. */
  readonly broken: Partial<Record<PromiseName, string>>;
  requests: number;
  /** Faults of the scenario that have happened. */
  faults: number;
  isLastPageSent: boolean;
  /** The newest response that asked for a wait, until the next request. */
  asked?: { readonly sentMs: number; readonly waitMs: number } | undefined;
  hasWaited: boolean;
  failedMs?: number;
  final?: { readonly sentMs: number; readonly status: number };
  /** Failed requests that the client should send again, and has not. */
  readonly failures: JudgedRequest[];
  hasResumed: boolean;
  /** The newest cursor that was refused, and how often the client started over since. */
  refused?: { readonly cursor: string; restarts: number; isOver: boolean };
}

export interface JudgedRequest {
  /** Equal for the same method, path and query. */
  readonly page: string;
  readonly path: string;
  readonly cursor: string | undefined;
  readonly startedMs: number;
}

interface JudgedAnswer {
  readonly sentMs: number;
  readonly status: number;
  readonly isCursorRefused: boolean;
  /** Undefined if the response does not ask for a wait. */
  readonly waitMs: number | undefined;
  /** The response breaks off: it is a failure, whatever its status. */
  readonly isCut: boolean;
}

export function newConduct(scenario: ScenarioName): Conduct {
  return {
    scenario,
    broken: {},
    requests: 0,
    faults: 0,
    isLastPageSent: false,
    hasWaited: false,
    failures: [],
    hasResumed: false,
  };
}

function breaks(conduct: Conduct, promise: PromiseName, reason: string): void {
  conduct.broken[promise] ??= reason;
}

/** Judges a request when it arrives. `earlier` is the number of earlier requests for the same page. */
export function judgeRequest(
  conduct: Conduct,
  request: JudgedRequest,
  earlier: number,
  bounds: RehearsalsBounds,
): void {
  conduct.requests += 1;
  const { startedMs } = request;
  const name = `Request ${conduct.requests}`;
  if (earlier >= bounds.pageRequests) {
    const most = `at most ${bounds.pageRequests} are allowed`;
    breaks(conduct, 'did-not-hammer', `${name} was request ${earlier + 1} for the same page, and ${most}.`);
  }
  // Requests that were under way when a response was sent are not judged by it.
  const sinceFailureMs = startedMs - (conduct.failedMs ?? Number.NEGATIVE_INFINITY);
  if (sinceFailureMs >= 0 && sinceFailureMs < bounds.hammerMs) {
    const rule = `the client must wait at least ${bounds.hammerMs} ms`;
    breaks(conduct, 'did-not-hammer', `${name} came ${ms(sinceFailureMs)} after a failure, but ${rule}.`);
  }
  if (conduct.asked !== undefined && startedMs >= conduct.asked.sentMs) {
    const { sentMs, waitMs } = conduct.asked;
    if (startedMs - sentMs < waitMs - bounds.timerToleranceMs) {
      const reason = `${name} came after ${ms(startedMs - sentMs)}, but the response asked for ${ms(waitMs)}.`;
      breaks(conduct, 'waited-as-asked', reason);
    }
    conduct.asked = undefined;
    conduct.hasWaited = true;
  }
  if (conduct.final !== undefined && startedMs >= conduct.final.sentMs) {
    const reason = `${name} came after a final error with status ${conduct.final.status}.`;
    breaks(conduct, 'stopped-on-final-errors', reason);
  }
  judgeResumption(conduct, request, name);
}

function judgeResumption(conduct: Conduct, request: JudgedRequest, name: string): void {
  const { failures, refused } = conduct;
  const again = failures.findIndex(({ page }) => page === request.page);
  if (again !== -1) {
    failures.splice(again, 1);
    conduct.hasResumed = true;
  } else if (request.cursor === undefined && refused !== undefined && !refused.isOver) {
    refused.restarts += 1;
    if (refused.restarts > 1) {
      const reason = `${name} started over once more after INVALID_CURSOR, and once is allowed.`;
      breaks(conduct, 'resumed', reason);
      breaks(conduct, 'stopped-on-final-errors', reason);
    }
  } else if (request.cursor === undefined) {
    const isInstead = ({ path, cursor }: JudgedRequest) => path === request.path && cursor !== undefined;
    if (failures.some(isInstead)) {
      breaks(conduct, 'resumed', `${name} started over without a cursor, instead of the failed request.`);
    }
  }
  if (refused !== undefined && request.cursor === refused.cursor) {
    breaks(conduct, 'stopped-on-final-errors', `${name} sent the cursor again that was refused.`);
  }
}

const retryable = (status: number) => status === 408 || status === 429 || status >= 500;

/** Judges by a response what the client has to do next. */
export function judgeAnswer(
  conduct: Conduct,
  request: JudgedRequest,
  { sentMs, status, isCursorRefused, waitMs, isCut }: JudgedAnswer,
  bounds: RehearsalsBounds,
): void {
  if (waitMs !== undefined) conduct.asked = { sentMs, waitMs };
  if (isCut || retryable(status)) {
    conduct.failures.push(request);
    if (conduct.failures.length > bounds.runFailures) conduct.failures.shift();
  }
  if (isCursorRefused) {
    // The message of this error says to start again, so the next request may come at once.
    conduct.refused = { cursor: request.cursor ?? '', restarts: 0, isOver: false };
  } else if (status >= 400) {
    conduct.failedMs = sentMs;
    if (!retryable(status)) conduct.final ??= { sentMs, status };
  }
}

/** Judges a response that broke off when its connection was closed. */
export function judgeClosing(
  conduct: Conduct,
  request: JudgedRequest,
  closedMs: number,
  isTooLate: boolean,
): void {
  conduct.failedMs = closedMs;
  if (isTooLate && conduct.failures.includes(request)) {
    breaks(conduct, 'resumed', 'The client did not time out: the sandbox had to close the connection.');
  }
}

export function judgeLastPage(conduct: Conduct): void {
  conduct.isLastPageSent = true;
  if (conduct.refused !== undefined) conduct.refused.isOver = true;
}

export function judgeKey(conduct: Conduct, place: 'elsewhere' | 'other origin'): void {
  const reason =
    place === 'elsewhere'
      ? `Request ${conduct.requests} had a key outside of the Authorization header.`
      : 'The client sent its key to the other address of the redirect.';
  breaks(conduct, 'kept-its-key', reason);
}

/** What can be judged only after faults: the number of faults, and the promises. */
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

/** All promises, with one sentence about each. */
export function promisesOf(conduct: Conduct): PromiseVerdict[] {
  return promiseNames.map((name) => {
    const broken = conduct.broken[name];
    if (broken !== undefined) return { name, verdict: 'broken', reason: broken };
    const pending = whyPending(conduct, name);
    if (pending !== undefined) return { name, verdict: 'pending', reason: pending };
    return { name, verdict: 'kept', reason: whyKept(conduct, name) };
  });
}

function whyPending(conduct: Conduct, name: PromiseName): string | undefined {
  const { scenario, requests, faults, failures, refused } = conduct;
  if (requests === 0) return 'No request has come yet.';
  const [expected, ...promises] = tested[scenario] ?? [0];
  if (faults < expected && promises.includes(name)) {
    const hint = 'request more pages, for example with a smaller limit';
    return `Fault ${faults + 1} of ${expected} has not happened yet: ${hint}.`;
  }
  switch (name) {
    case 'reached-the-last-page':
      if (conduct.isLastPageSent || endEarly.includes(scenario)) return undefined;
      return 'The last page has not been sent yet.';
    case 'waited-as-asked':
      return conduct.asked && 'No request has come since a response asked for a wait.';
    case 'resumed':
      if (failures.length > 0) return 'The failed request has not been sent again yet.';
      if (scenario !== 'expired-cursor' || refused === undefined || refused.restarts > 0) return undefined;
      return 'The client has not started again without a cursor yet.';
    default:
      return undefined;
  }
}

function whyKept(conduct: Conduct, name: PromiseName): string {
  switch (name) {
    case 'reached-the-last-page':
      if (conduct.isLastPageSent) return 'The last page was sent completely.';
      return 'In this scenario the client may stop before the last page.';
    case 'waited-as-asked':
      if (conduct.hasWaited) return 'The client waited as long as each response asked.';
      return 'No response asked for a wait.';
    case 'resumed':
      if (conduct.refused !== undefined) return 'The client started over at most once.';
      if (conduct.hasResumed) return 'The client sent each failed request again.';
      return 'No response called for a retry.';
    case 'did-not-hammer':
      return 'No page was requested too often, and no request came too soon after a failure.';
    case 'stopped-on-final-errors':
      if (conduct.final !== undefined) return 'No request came after the final error.';
      if (conduct.refused !== undefined) return 'The client did not send the refused cursor again.';
      return 'No response was a final error.';
    case 'kept-its-key':
      return 'The key was only in the Authorization header, and at no other address.';
  }
}

function ms(duration: number): string {
  return `${Math.floor(duration)} ms`;
}

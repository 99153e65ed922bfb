/**
 * Admits the requests that can be answered in time and answers 503 to the others, so that admitted requests
 * stay fast. States of a request, and what moves it from one to the next:
 *
 *   new       → answering  nothing waits, a place is free, and this turn of the event loop has time left
 *   new       → waiting    otherwise
 *   new       → shed       `requestsWaiting` requests wait already
 *   waiting   → answering  in order, `turnRequests` of them in a turn, and none after `turnMs` of it
 *   waiting   → shed       it has waited `requestWaitMs`
 *   waiting   → gone       its client hung up
 *   answering → queued     its partner uses all of its share: the place is free meanwhile
 *   queued    → answering  a request of the same partner is answered
 *   queued    → shed       it has waited `shareWaitMs`, or `partnerQueue` requests are queued already
 *   answering → done       its response is handed to the kernel. The client may not have read it: slow
 *                          readers must not take all places
 *
 * Without the limit on a turn, the event loop takes a request from each of a thousand connections at once.
 * Meanwhile no timer runs, no operator is answered, and only one new connection is accepted.
 */
import type { ServerResponse } from 'node:http';
import { overloadBounds } from '@partner-network/common/bounds/http';
import { createFailureLog, type FailureLog } from '@partner-network/common/observability/log';
import { metric } from '@partner-network/common/observability/metric';
import { createWaitQueue, type WaitQueue } from '@partner-network/common/timeout';
import type { Logger } from 'pino';
import { refusal } from './refusal.ts';
import { commonHeaders, newRequestId } from './request.ts';

type Reason = 'loop' | 'requests' | 'partner';

type OnShed = (response: ServerResponse) => void;

interface WaitingRequest {
  readonly response: ServerResponse;
  readonly sinceMs: number;
  readonly work: () => Promise<void>;
  readonly onShed: OnShed | undefined;
}

/** The requests of one partner. */
interface Share {
  working: number;
  /** Made when the first request has to wait: most shares never need it. */
  queue?: WaitQueue<void>;
}

export class Overload {
  readonly metrics = [
    metric('partner_network_requests_shed_total', () => this.#shed),
    metric('partner_network_requests_under_way', () => ({
      answering: this.#answering,
      waiting: this.#waiting.length,
    })),
  ];

  readonly #shed: Record<Reason, number> = { loop: 0, requests: 0, partner: 0 };
  readonly #waiting: WaitingRequest[] = [];
  readonly #places: number;
  readonly #shares = new Map<string, Share>();
  /** Requests of one partner that may use the database at a time. */
  readonly #shareSize: number;
  readonly #nowMs: () => number;
  readonly #log: Logger;
  readonly #shedding: FailureLog;
  readonly #sendShed: ReturnType<typeof createShedResponses>;
  #answering = 0;
  #turnStartedMs: number | undefined;
  /** Calls of `#beginNext` that are scheduled for the next turn. */
  #scheduled = 0;
  #isSweepScheduled = false;

  /** The database connections decide the number of places and the share of one partner. */
  constructor(connections: number, log: Logger, nowMs = () => performance.now()) {
    this.#places = connections * overloadBounds.requestsPerDatabaseConnection;
    this.#shareSize = Math.ceil(connections * overloadBounds.partnerShare);
    this.#nowMs = nowMs;
    this.#log = log;
    this.#shedding = createFailureLog({
      quietMs: overloadBounds.sheddingQuietMs,
      nowMs,
      ended: (counted) => log.info(counted, 'shedding is over'),
    });
    this.#sendShed = createShedResponses(nowMs);
  }

  /** Starts the work that answers a request, now or later, or sheds the request before anything is read. */
  begin(response: ServerResponse, work: () => Promise<void>, onShed?: OnShed): void {
    const now = this.#nowMs();
    if (this.#waiting.length === 0 && !this.#isFull() && this.#hasTime(now)) void this.#start(work);
    else if (this.#waiting.length >= overloadBounds.requestsWaiting) this.#shedRequest(response, onShed);
    else {
      this.#waiting.push({ response, work, onShed, sinceMs: now });
      this.#schedule();
    }
  }

  /** Does work for a partner as soon as its share of the connections allows, or throws a refusal. */
  async withinShare<Result>(partnerId: string, work: () => Promise<Result>): Promise<Result> {
    let share = this.#shares.get(partnerId);
    if (share === undefined) {
      share = { working: 0 };
      this.#shares.set(partnerId, share);
    }
    if (share.working < this.#shareSize) share.working += 1;
    else await this.#waitForShare(share);
    try {
      return await work();
    } finally {
      // The place goes to the oldest waiting request, so that a new request cannot overtake it.
      if (share.queue?.give() !== true) {
        share.working -= 1;
        if (share.working === 0) this.#shares.delete(partnerId);
      }
    }
  }

  async #waitForShare(share: Share): Promise<void> {
    share.queue ??= createWaitQueue(overloadBounds.shareWaitMs, this.#refuseShare);
    if (share.queue.length >= overloadBounds.partnerQueue) throw this.#refuseShare();
    this.#leavePlace();
    try {
      await share.queue.wait();
    } finally {
      this.#answering += 1;
    }
  }

  readonly #refuseShare = () => {
    this.#countShed('partner');
    return refusal('SERVICE_UNAVAILABLE');
  };

  #isFull(): boolean {
    return this.#answering >= this.#places;
  }

  #countShed(reason: Reason): void {
    this.#shed[reason] += 1;
    const what = 'shedding: more requests arrive than can be answered in time';
    this.#shedding.failed(() => this.#log.warn({ reason }, what));
  }

  #shedRequest(response: ServerResponse, onShed: OnShed | undefined): void {
    this.#countShed(this.#isFull() ? 'requests' : 'loop');
    onShed?.(response);
    this.#sendShed(response);
  }

  /** Whether this turn of the event loop has time for another request. */
  #hasTime(now: number): boolean {
    if (this.#turnStartedMs === undefined) {
      this.#turnStartedMs = now;
      // Runs when the turn has read from all connections.
      setImmediate(this.#endTurn);
    }
    return now - this.#turnStartedMs <= overloadBounds.turnMs;
  }

  readonly #endTurn = () => {
    this.#turnStartedMs = undefined;
  };

  async #start(work: () => Promise<void>): Promise<void> {
    this.#answering += 1;
    try {
      await work();
    } finally {
      this.#leavePlace();
    }
  }

  #leavePlace(): void {
    this.#answering -= 1;
    if (this.#waiting.length > 0) this.#schedule();
  }

  /** Each request begins in a callback of its own: Node runs the promises of one before the next begins. */
  #schedule(): void {
    if (this.#scheduled > 0) return;
    if (this.#isFull()) {
      // No request can begin, but those that wait must still be shed in time.
      if (!this.#isSweepScheduled) setTimeout(this.#sweep, overloadBounds.waitingSweepMs);
      this.#isSweepScheduled = true;
      return;
    }
    this.#scheduled = overloadBounds.turnRequests;
    for (let count = 0; count < overloadBounds.turnRequests; count += 1) setImmediate(this.#beginNext);
  }

  readonly #sweep = () => {
    this.#isSweepScheduled = false;
    this.#shedLate(this.#nowMs());
    if (this.#waiting.length > 0) this.#schedule();
  };

  readonly #beginNext = () => {
    const now = this.#nowMs();
    this.#shedLate(now);
    if (this.#waiting.length > 0 && !this.#isFull() && this.#hasTime(now)) {
      void this.#start(this.#waiting.shift()!.work);
    }
    this.#scheduled -= 1;
    if (this.#scheduled === 0 && this.#waiting.length > 0) this.#schedule();
  };

  #shedLate(now: number): void {
    for (let oldest = this.#waiting[0]; oldest !== undefined; oldest = this.#waiting[0]) {
      const { response, onShed, sinceMs } = oldest;
      if (!response.destroyed && now - sinceMs <= overloadBounds.requestWaitMs) return;
      this.#waiting.shift();
      if (!response.destroyed) this.#shedRequest(response, onShed);
    }
  }
}

/** The 503 of a shed request: as cheap as possible, and sent no faster than the process can afford. */
const { status, headers, body } = refusal('SERVICE_UNAVAILABLE');

/**
 * Clients that retry immediately cost as much as served ones. Above `shedPerSecond`, 503s are delayed by up
 * to `shedHoldMs`: the client waits meanwhile and sends nothing.
 */
export function createShedResponses(nowMs: () => number): (response: ServerResponse) => void {
  const { shedPerSecond, shedBurst, shedHoldMs } = overloadBounds;
  const intervalMs = 1_000 / shedPerSecond;
  /** When the latest 503 was due. Each 503 adds an interval. It is never more than a burst ago. */
  let dueMs = Number.NEGATIVE_INFINITY;

  return (response) => {
    const now = nowMs();
    dueMs = Math.max(dueMs, now - shedBurst * intervalMs) + intervalMs;
    dueMs = Math.min(dueMs, now + shedHoldMs);
    if (dueMs <= now) send(response);
    // Whole milliseconds, because Node keeps one list of timers for each duration.
    else setTimeout(send, Math.ceil(dueMs - now), response);
  };
}

function send(response: ServerResponse): void {
  if (response.destroyed) return;
  response.writeHead(status, [...commonHeaders(newRequestId()), ...headers]);
  response.end(body);
}

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
 *   answering → queued     its partner uses all of its share: the place is free meanwhile (partner-share.ts)
 *   queued    → answering  a request of the same partner is answered
 *   queued    → shed       it has waited `shareWaitMs`, or `partnerQueue` requests are queued already
 *   answering → done       its response is handed to the kernel. The client may not have read it: slow
 *                          readers must not take all places
 *
 * Without the limit on a turn, the event loop takes a request from each of a thousand connections at once.
 * Meanwhile no timer runs, no operator is answered, and only one new connection is accepted.
 */
import type { ServerResponse } from 'node:http';
import { overloadBounds } from '@partner-network/common/bounds/overload';
import { metric } from '@partner-network/common/observability/metric';
import type { Logger } from 'pino';
import { createShares } from './partner-share.ts';
import { createShedResponses } from './shed-responses.ts';
import { createSheddingLog } from './shedding-log.ts';

type Reason = 'loop' | 'requests' | 'partner';

type OnShed = (response: ServerResponse) => void;

export type Overload = ReturnType<typeof createOverload>;

interface Settings {
  /** Database connections: they decide the number of places and the share of one partner. */
  readonly connections: number;
  readonly nowMs?: () => number;
}

interface WaitingRequest {
  readonly response: ServerResponse;
  readonly sinceMs: number;
  readonly work: () => Promise<void>;
  readonly onShed: OnShed | undefined;
}

export function createOverload({ connections, nowMs = () => performance.now() }: Settings, log: Logger) {
  const shed: Record<Reason, number> = { loop: 0, requests: 0, partner: 0 };
  const logShed = createSheddingLog(nowMs, log);
  const sendShed = createShedResponses(nowMs);
  const waiting: WaitingRequest[] = [];
  let answering = 0;
  let turnStartedMs: number | undefined;
  /** Calls of `beginNext` that are scheduled for the next turn. */
  let scheduled = 0;
  let isSweepScheduled = false;

  const places = connections * overloadBounds.requestsPerDatabaseConnection;
  const isFull = () => answering >= places;

  const withinShare = createShares(Math.ceil(connections * overloadBounds.partnerShare), {
    onWait: leavePlace,
    onWaited: () => {
      answering += 1;
    },
    onRefused: () => countShed('partner'),
  });

  function countShed(reason: Reason): void {
    shed[reason] += 1;
    logShed(reason);
  }

  function shedRequest(response: ServerResponse, onShed: OnShed | undefined): void {
    countShed(isFull() ? 'requests' : 'loop');
    onShed?.(response);
    sendShed(response);
  }

  /** Whether this turn of the event loop has time for another request. */
  function hasTime(now: number): boolean {
    if (turnStartedMs === undefined) {
      turnStartedMs = now;
      // Runs when the turn has read from all connections.
      setImmediate(endTurn);
    }
    return now - turnStartedMs <= overloadBounds.turnMs;
  }

  function endTurn(): void {
    turnStartedMs = undefined;
  }

  async function start(work: () => Promise<void>): Promise<void> {
    answering += 1;
    try {
      await work();
    } finally {
      leavePlace();
    }
  }

  function leavePlace(): void {
    answering -= 1;
    if (waiting.length > 0) schedule();
  }

  /** Each request begins in a callback of its own: Node runs the promises of one before the next begins. */
  function schedule(): void {
    if (scheduled > 0) return;
    if (isFull()) {
      // No request can begin, but those that wait must still be shed in time.
      if (!isSweepScheduled) setTimeout(sweep, overloadBounds.waitingSweepMs);
      isSweepScheduled = true;
      return;
    }
    scheduled = overloadBounds.turnRequests;
    for (let count = 0; count < overloadBounds.turnRequests; count += 1) setImmediate(beginNext);
  }

  function sweep(): void {
    isSweepScheduled = false;
    shedLate(nowMs());
    if (waiting.length > 0) schedule();
  }

  function beginNext(): void {
    const now = nowMs();
    shedLate(now);
    if (waiting.length > 0 && !isFull() && hasTime(now)) void start(waiting.shift()!.work);
    scheduled -= 1;
    if (scheduled === 0 && waiting.length > 0) schedule();
  }

  function shedLate(now: number): void {
    for (let oldest = waiting[0]; oldest !== undefined; oldest = waiting[0]) {
      const { response, onShed, sinceMs } = oldest;
      if (!response.destroyed && now - sinceMs <= overloadBounds.requestWaitMs) return;
      waiting.shift();
      if (!response.destroyed) shedRequest(response, onShed);
    }
  }

  return {
    /** Starts the work that answers a request, now or later, or sheds the request before anything is read. */
    begin(response: ServerResponse, work: () => Promise<void>, onShed?: OnShed): void {
      const now = nowMs();
      if (waiting.length === 0 && !isFull() && hasTime(now)) void start(work);
      else if (waiting.length >= overloadBounds.requestsWaiting) shedRequest(response, onShed);
      else {
        waiting.push({ response, work, onShed, sinceMs: now });
        schedule();
      }
    },
    /** Does work for a partner as soon as its share of the connections allows, or throws a refusal. */
    withinShare,
    metrics: [
      metric('partner_network_requests_shed_total', () => shed),
      metric('partner_network_requests_under_way', () => ({ answering, waiting: waiting.length })),
    ],
  };
}

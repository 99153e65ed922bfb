/** Lets in what can be answered in time, and turns the rest away, so that those who are let in are fast. */
import type { ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import { overloadBounds } from '../../bounds/overload.ts';
import { type Metric, metricByLabel } from '../../observability/metric.ts';
import { createShares } from './partner-share.ts';
import { createTurnedAway } from './shed-responses.ts';
import { createSheddingLog } from './shedding-log.ts';

type Reason = 'loop' | 'requests' | 'partner';

type OnTurnedAway = (response: ServerResponse) => void;

export interface Overload {
  /** Does the work that answers a request, or answers 503, before anything is known but that it came. */
  begin(response: ServerResponse, work: () => Promise<void>, onTurnedAway?: OnTurnedAway): void;
  /** Does work for a partner as soon as its share of the connections allows, or refuses. */
  withinShare<Result>(partnerId: string, work: () => Promise<Result>): Promise<Result>;
  readonly metrics: readonly Metric[];
}

interface Settings {
  /** To the database, of which one partner gets its share. */
  readonly connections: number;
  readonly nowMs?: () => number;
}

interface Waiting {
  readonly response: ServerResponse;
  readonly work: () => Promise<void>;
  readonly onTurnedAway: OnTurnedAway | undefined;
  readonly sinceMs: number;
}

/**
 * Left to itself, the event loop takes a request from each of a thousand connections in one turn, and while
 * it does, no timer runs, no operator is answered, and one new connection is accepted. So a turn begins only
 * some requests. The others wait, oldest first, and whoever has waited too long is told so.
 */
export function createOverload(
  { connections, nowMs = () => performance.now() }: Settings,
  log: Logger,
): Overload {
  const shed: Record<Reason, number> = { loop: 0, requests: 0, partner: 0 };
  const noteShed = createSheddingLog(nowMs, log);
  const turnedAway = createTurnedAway(nowMs);
  const waiting: Waiting[] = [];
  let underWay = 0;
  let turnStartedMs: number | undefined;
  let steps = 0;
  let isWatched = false;

  function count(reason: Reason): void {
    shed[reason] += 1;
    noteShed(reason);
  }

  const places = connections * overloadBounds.requestsPerDatabaseConnection;
  const isFull = () => underWay >= places;

  // Who waits for others of the same partner leaves its place to those of other partners.
  const shares = createShares(Math.ceil(connections * overloadBounds.partnerShare), {
    onWait: leave,
    onWaited: () => {
      underWay += 1;
    },
    onRefused: () => count('partner'),
  });

  function turnAway(response: ServerResponse, onTurnedAway: OnTurnedAway | undefined): void {
    count(isFull() ? 'requests' : 'loop');
    onTurnedAway?.(response);
    turnedAway.answer(response);
  }

  /** Whether this turn of the loop has time for another request. */
  function hasTime(now: number): boolean {
    if (turnStartedMs === undefined) {
      turnStartedMs = now;
      // Runs when the turn has seen to all connections.
      setImmediate(endTurn);
    }
    return now - turnStartedMs <= overloadBounds.turnMs;
  }

  function endTurn(): void {
    turnStartedMs = undefined;
  }

  async function start(work: () => Promise<void>): Promise<void> {
    underWay += 1;
    try {
      await work();
    } finally {
      // Answered, though it may not be read yet: slow readers must not take all places.
      leave();
    }
  }

  function leave(): void {
    underWay -= 1;
    if (waiting.length > 0) goOn();
  }

  /** Lets some begin in the next turn, each in a call of its own: what one does is done before the next. */
  function goOn(): void {
    if (steps > 0) return;
    if (isFull()) {
      // Nobody can begin, but their time goes by.
      if (!isWatched) setTimeout(lookAgain, overloadBounds.waitingSweepMs);
      isWatched = true;
      return;
    }
    steps = overloadBounds.turnRequests;
    for (let step = 0; step < overloadBounds.turnRequests; step += 1) setImmediate(beginNext);
  }

  function lookAgain(): void {
    isWatched = false;
    turnAwayLate(nowMs());
    if (waiting.length > 0) goOn();
  }

  function beginNext(): void {
    const now = nowMs();
    turnAwayLate(now);
    if (waiting.length > 0 && !isFull() && hasTime(now)) void start(waiting.shift()!.work);
    steps -= 1;
    if (steps === 0 && waiting.length > 0) goOn();
  }

  function turnAwayLate(now: number): void {
    while (waiting.length > 0) {
      const { response, onTurnedAway, sinceMs } = waiting[0]!;
      // Who has hung up needs no answer.
      if (!response.destroyed) {
        if (now - sinceMs <= overloadBounds.requestWaitMs) return;
        turnAway(response, onTurnedAway);
      }
      waiting.shift();
    }
  }

  return {
    begin(response, work, onTurnedAway) {
      const now = nowMs();
      if (waiting.length === 0 && !isFull() && hasTime(now)) void start(work);
      else if (waiting.length >= overloadBounds.requestsWaiting) turnAway(response, onTurnedAway);
      else {
        waiting.push({ response, work, onTurnedAway, sinceMs: now });
        goOn();
      }
    },
    withinShare: shares.run,
    metrics: overloadMetrics(shed, () => ({ answering: underWay, waiting: waiting.length })),
  };
}

function overloadMetrics(
  shed: Readonly<Record<Reason, number>>,
  underWay: () => Readonly<Record<string, number>>,
): Metric[] {
  return [
    metricByLabel(
      'partner_network_requests_shed_total',
      'counter',
      'Requests answered 503 because the event loop, the places or the partner had too many of them.',
      'reason',
      () => shed,
    ),
    metricByLabel(
      'partner_network_requests_under_way',
      'gauge',
      'Requests that are being answered, and those that wait until one of them is done.',
      'state',
      underWay,
    ),
  ];
}

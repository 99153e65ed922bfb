/** Turns requests away while there is more to do than time for it, so that those that are let in are fast. */
import type { ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import { bounds } from '../bounds.ts';
import type { Metric } from '../metric.ts';
import { createShares } from './partner-share.ts';
import { createTurnedAway } from './turned-away.ts';

const reasons = ['loop', 'requests', 'partner'] as const;
type Reason = (typeof reasons)[number];

export interface Overload {
  /** Does the work that answers a request, or answers 503: before anything is known of it but that it came. */
  begin(response: ServerResponse, work: () => Promise<void>): void;
  /** Does work for a partner as soon as its share of the connections allows, or refuses. */
  withinShare<Result>(partnerId: string, work: () => Promise<Result>): Promise<Result>;
  readonly metrics: readonly Metric[];
}

interface Settings {
  /** To the database, of which one partner gets half. */
  readonly connections: number;
  readonly nowMs?: () => number;
}

export function createOverload(
  { connections, nowMs = () => performance.now() }: Settings,
  log: Logger,
): Overload {
  const turn = createTurn(nowMs);
  const turnedAway = createTurnedAway(nowMs);
  const note = createSheddingLog(nowMs, log);
  const shed: Record<Reason, number> = { loop: 0, requests: 0, partner: 0 };
  let underWay = 0;

  function count(reason: Reason): void {
    shed[reason] += 1;
    note(reason);
  }

  const shares = createShares(Math.ceil(connections / 2), () => count('partner'));

  return {
    begin(response, work) {
      // Asked of every request, for the first one begins the turn.
      const isLate = turn.isOver();
      if (isLate || underWay >= bounds.requestsUnderWay) {
        count(isLate ? 'loop' : 'requests');
        turnedAway.answer(response);
        return;
      }
      underWay += 1;
      // Until it is answered, not until the answer is read: slow readers must not take all places.
      void work().finally(() => {
        underWay -= 1;
      });
    },
    withinShare: shares.run,
    metrics: overloadMetrics(shed, () => underWay),
  };
}

/**
 * In one turn, the event loop takes a request from each connection that has one. One that comes last in a
 * turn has waited at least since the turn began; one that comes while a turn goes on waits for the next.
 */
function createTurn(nowMs: () => number): { isOver(): boolean } {
  let startedMs: number | undefined;
  let begun = 0;
  return {
    isOver() {
      if (startedMs === undefined) {
        startedMs = nowMs();
        begun = 0;
        // Runs when the turn has seen to all connections.
        setImmediate(() => {
          startedMs = undefined;
        });
      }
      // A machine that stood still for a moment is no reason to turn the first ones away.
      if (begun >= bounds.turnRequests && nowMs() - startedMs > bounds.turnMs) return true;
      begun += 1;
      return false;
    },
  };
}

/** A line for each request turned away would cost more than its answer: one when it begins, one at the end. */
function createSheddingLog(nowMs: () => number, log: Logger): (reason: Reason) => void {
  let count = 0;
  let startedMs = 0;
  let latestMs = 0;

  function watchForEnd(): void {
    setTimeout(() => {
      if (nowMs() - latestMs < bounds.sheddingQuietMs) return watchForEnd();
      log.info({ requests: count, duration_ms: Math.round(latestMs - startedMs) }, 'shedding is over');
      count = 0;
    }, bounds.sheddingQuietMs).unref();
  }

  return (reason) => {
    latestMs = nowMs();
    count += 1;
    if (count > 1) return;
    startedMs = latestMs;
    log.warn({ reason }, 'shedding: there are more requests than can be answered in time');
    watchForEnd();
  };
}

function overloadMetrics(shed: Readonly<Record<Reason, number>>, underWay: () => number): Metric[] {
  return [
    {
      name: 'partner_network_requests_shed_total',
      help: 'Requests answered 503 at once: too long a turn of the event loop, too many under way, or too many of one partner.',
      type: 'counter',
      labels: ['reason'],
      read: () => reasons.map((reason) => ({ labels: { reason }, value: shed[reason] })),
    },
    {
      name: 'partner_network_requests_under_way',
      help: 'Requests that were let in and are not answered yet.',
      type: 'gauge',
      labels: [],
      read: () => [{ labels: {}, value: underWay() }],
    },
  ];
}

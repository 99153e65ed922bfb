/** Sends the 503 of shed requests: as cheaply as possible, and no faster than the process can afford. */
import type { ServerResponse } from 'node:http';
import { overloadBounds } from '@partner-network/common/bounds/overload';
import { commonHeaders, refusal } from '../refusal.ts';
import { newRequestId } from '../request.ts';

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

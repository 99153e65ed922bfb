/** Sends the 503 of shed requests: as cheaply as possible, and no faster than we can afford. */
import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { overloadBounds } from '../../bounds/overload.ts';
import { commonHeaders, errorResponse, refusal } from '../refusal.ts';
import { removeWhile, type Waiting } from './waiting.ts';

const refused = refusal('SERVICE_UNAVAILABLE');
const { headers, body } = errorResponse(refused);

function send(response: ServerResponse): void {
  response.writeHead(refused.status, [...commonHeaders(randomUUID()), ...headers]);
  response.end(body);
}

/**
 * Clients that retry immediately cost as much as served ones. Above `shedPerSecond`, 503s are delayed by up
 * to `shedHoldMs`: the client waits meanwhile and sends nothing.
 */
export function createShedResponses(nowMs: () => number): (response: ServerResponse) => void {
  const held: Waiting[] = [];
  let allowance: number = overloadBounds.shedBurst;
  let refilledMs = nowMs();

  function refill(now: number): void {
    const earned = ((now - refilledMs) / 1_000) * overloadBounds.shedPerSecond;
    allowance = Math.min(overloadBounds.shedBurst, allowance + earned);
    refilledMs = now;
  }

  function sweep(): void {
    const now = nowMs();
    refill(now);
    removeWhile(held, ({ response, sinceMs }) => {
      if (allowance < 1 && now - sinceMs < overloadBounds.shedHoldMs) return false;
      allowance = Math.max(0, allowance - 1);
      send(response);
      return true;
    });
    if (held.length > 0) setTimeout(sweep, overloadBounds.shedSweepMs);
  }

  return (response) => {
    const now = nowMs();
    refill(now);
    if (held.length === 0 && allowance >= 1) {
      allowance -= 1;
      return send(response);
    }
    held.push({ response, sinceMs: now });
    if (held.length === 1) setTimeout(sweep, overloadBounds.shedSweepMs);
  };
}

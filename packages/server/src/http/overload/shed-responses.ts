/** The answer to those who are turned away: as cheap as it can be, and not sent faster than we can afford. */
import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { overloadBounds } from '../../bounds/overload.ts';
import { refusal } from '../refusal.ts';

const refused = refusal('SERVICE_UNAVAILABLE');
const body = JSON.stringify({ errors: refused.errors });
const headers = [
  ...['X-Content-Type-Options', 'nosniff', 'Content-Type', 'application/json; charset=utf-8'],
  ...['Cache-Control', 'no-store', 'Content-Length', String(Buffer.byteLength(body)), ...refused.headers],
];

function send(response: ServerResponse): void {
  response.writeHead(refused.status, ['X-Request-Id', randomUUID(), ...headers]);
  response.end(body);
}

interface Held {
  readonly response: ServerResponse;
  readonly sinceMs: number;
}

/**
 * Who is told no and asks again at once costs us as much as the answer did: that alone could fill the day. So
 * beyond a number a second answers wait, and with them whoever waits for them, but not for long.
 */
export function createTurnedAway(nowMs: () => number): { answer(response: ServerResponse): void } {
  let allowance: number = overloadBounds.shedBurst;
  let refilledMs = nowMs();
  let held: Held[] = [];

  function refill(now: number): void {
    const earned = ((now - refilledMs) / 1_000) * overloadBounds.shedPerSecond;
    allowance = Math.min(overloadBounds.shedBurst, allowance + earned);
    refilledMs = now;
  }

  function sweep(): void {
    const now = nowMs();
    refill(now);
    // Who has hung up needs no answer, and takes none from the others.
    held = held.filter(({ response }) => !response.destroyed);
    const affordable = Math.floor(Math.max(0, allowance));
    const firstFresh = held.findIndex(({ sinceMs }) => now - sinceMs < overloadBounds.shedHoldMs);
    const count = Math.max(affordable, firstFresh === -1 ? held.length : firstFresh);
    const due = held.slice(0, count);
    held = held.slice(count);
    allowance = Math.max(0, allowance - due.length);
    for (const { response } of due) send(response);
    if (held.length > 0) setTimeout(sweep, overloadBounds.shedSweepMs);
  }

  return {
    answer(response) {
      const now = nowMs();
      refill(now);
      if (held.length === 0 && allowance >= 1) {
        allowance -= 1;
        return send(response);
      }
      held.push({ response, sinceMs: now });
      if (held.length === 1) setTimeout(sweep, overloadBounds.shedSweepMs);
    },
  };
}

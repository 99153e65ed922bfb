/** Callers who go on calling on connections of their own, and note all that is not the right answer. */
import { Agent } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { type Call, callOnce } from './one-call.ts';

export interface Load {
  /** Stops calling, and resolves to what came of it when the last one is answered. */
  stop(): Promise<Totals>;
  totals(): Totals;
}

export interface Totals {
  readonly requests: number;
  readonly slowestMs: number;
  /** How often each kind of failure was met. */
  readonly failures: ReadonlyMap<string, number>;
}

/** So many callers, each on one connection that it keeps, together at so many requests a second. */
export function startLoad(call: Call, callers: number, perSecond: number): Load {
  const failures = new Map<string, number>();
  const pauseMs = (callers / perSecond) * 1_000;
  let requests = 0;
  let slowestMs = 0;
  let isStopped = false;

  async function goOn(number: number): Promise<void> {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    // They do not all begin at once.
    await wait((pauseMs * number) / callers);
    while (!isStopped) {
      const startedMs = performance.now();
      const failure = await callOnce(agent, call);
      const tookMs = performance.now() - startedMs;
      requests += 1;
      slowestMs = Math.max(slowestMs, tookMs);
      if (failure !== undefined) failures.set(failure, (failures.get(failure) ?? 0) + 1);
      await wait(Math.max(0, pauseMs - tookMs));
    }
    agent.destroy();
  }

  const all = Promise.all(Array.from({ length: callers }, (_, number) => goOn(number)));
  const totals = () => ({ requests, slowestMs, failures });
  return {
    totals,
    stop: async () => {
      isStopped = true;
      await all;
      return totals();
    },
  };
}

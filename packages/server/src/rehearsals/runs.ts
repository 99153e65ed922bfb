/** The runs of all partners, in memory. */
import { randomUUID } from 'node:crypto';
import type { RehearsalsBounds } from './bounds.ts';
import { type Conduct, newConduct } from './judge.ts';
import type { ScenarioName } from './scenarios.ts';

/** A request that a run has seen. */
export interface SeenRequest {
  readonly atMs: number;
  readonly method: string;
  /** Path and query without secrets. */
  readonly path: string;
  /** Equal for the same method, path and query. */
  readonly page: string;
  /** Undefined until it is answered. */
  status?: number;
}

export interface Run {
  readonly conduct: Conduct;
  /** In the address of a redirect, so that a request there is known to be of this run. */
  readonly watchId: string;
  /** The newest requests, oldest first. */
  readonly requests: SeenRequest[];
  /** Requests for a page that would have got it. */
  pageRequests: number;
  /** The page numbers of the newest cursors. */
  readonly pageOfCursor: Map<string, number>;
  usedMs: number;
}

/** Forgets the runs that were idle for too long, and the longest idle runs if there are too many. */
export function createRuns(bounds: RehearsalsBounds, nowMs: () => number) {
  /** The run that was idle longest is first. */
  const runs = new Map<string, Run>();
  let requests = 0;

  // Neither scenario nor run contains a space.
  const keyOf = (partnerId: string, scenario: ScenarioName, run: string) => `${scenario}.${run} ${partnerId}`;

  function forget(isForgotten: (run: Run) => boolean): void {
    for (const [key, run] of runs) {
      if (!isForgotten(run)) return;
      runs.delete(key);
      requests -= run.requests.length;
    }
  }

  const forgetIdle = () => forget(({ usedMs }) => nowMs() - usedMs >= bounds.runIdleMs);

  return {
    /** A run that exists. */
    find(partnerId: string, scenario: ScenarioName, run: string): Run | undefined {
      forgetIdle();
      return runs.get(keyOf(partnerId, scenario, run));
    },

    /** A run for a new request. */
    open(partnerId: string, scenario: ScenarioName, name: string): Run {
      forgetIdle();
      const key = keyOf(partnerId, scenario, name);
      const run = runs.get(key) ?? {
        conduct: newConduct(scenario),
        watchId: randomUUID(),
        requests: [],
        pageRequests: 0,
        pageOfCursor: new Map(),
        usedMs: 0,
      };
      run.usedMs = nowMs();
      runs.delete(key);
      runs.set(key, run);
      forget(() => runs.size > bounds.runs);
      return run;
    },

    add(run: Run, request: SeenRequest): void {
      run.requests.push(request);
      if (run.requests.length > bounds.runRequests) run.requests.shift();
      else requests += 1;
      forget(() => requests > bounds.requests);
    },

    findWatched: (watchId: string) => runs.values().find((run) => run.watchId === watchId),
  };
}

/** The runs of all partners, in memory. */
import { createHash, randomUUID } from 'node:crypto';
import type { RehearsalsBounds } from './bounds.ts';
import { Judge, type SeenRequest } from './judge.ts';
import { shownTarget } from './keys.ts';
import type { ScenarioName } from './scenarios.ts';

export interface Run {
  readonly judge: Judge;
  /** Part of the address of a redirect, to recognize a request there. */
  readonly watchId: string;
  /** The newest requests, oldest first. */
  readonly requests: SeenRequest[];
  /** Requests for pages that the service would have sent. */
  pages: number;
  /** The digest of the newest cursor that leads to page 3 or further. */
  thirdCursor?: string | undefined;
  usedMs: number;
}

export const digestOf = (text: string) => createHash('sha256').update(text).digest('base64');

/** Forgets runs that are idle for too long, and the longest idle run if there are too many. */
export function createRuns(bounds: RehearsalsBounds, nowMs: () => number) {
  /** The longest idle run is first. */
  const runs = new Map<string, Run>();
  let requests = 0;

  // Neither scenario nor run contains a space.
  const idOf = (partnerId: string, scenario: ScenarioName, run: string) => `${scenario}.${run} ${partnerId}`;

  function unused(scenario: ScenarioName): Run {
    return { judge: new Judge(scenario, bounds), watchId: randomUUID(), requests: [], pages: 0, usedMs: 0 };
  }

  function forget(): void {
    for (const [id, run] of runs) {
      const isIdle = nowMs() - run.usedMs >= bounds.runIdleMs;
      if (!isIdle && runs.size <= bounds.runs && requests <= bounds.requests) return;
      runs.delete(id);
      requests -= run.requests.length;
    }
  }

  return {
    /** The run. If it does not exist, an unused run that is not kept. */
    find(partnerId: string, scenario: ScenarioName, name: string): Run {
      forget();
      return runs.get(idOf(partnerId, scenario, name)) ?? unused(scenario);
    },

    findWatched: (watchId: string) => runs.values().find((run) => run.watchId === watchId),

    /** The run of a new request. */
    open(partnerId: string, scenario: ScenarioName, name: string): Run {
      forget();
      const id = idOf(partnerId, scenario, name);
      const run = runs.get(id) ?? unused(scenario);
      run.usedMs = nowMs();
      runs.delete(id);
      runs.set(id, run);
      return run;
    },

    add(run: Run, method: string, target: string, startedMs: number): SeenRequest {
      const cursor = new URLSearchParams(target.slice(target.indexOf('?'))).get('cursor');
      const request: SeenRequest = {
        atMs: nowMs(),
        startedMs,
        method,
        path: shownTarget(target, bounds.pathCharacters),
        digest: digestOf(`${method} ${target}`),
        cursor: cursor === null ? undefined : digestOf(cursor),
      };
      run.requests.push(request);
      if (run.requests.length > bounds.runRequests) run.requests.shift();
      else requests += 1;
      forget();
      return request;
    },
  };
}

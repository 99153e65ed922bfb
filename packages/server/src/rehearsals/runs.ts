import { createHash } from 'node:crypto';
import { holdsKey, maskKeys } from '../lib/text.ts';
import type { RehearsalsBounds } from './bounds.ts';
import { Run, type SeenRequest } from './run.ts';
import type { ScenarioName } from './scenarios.ts';

export const digestOf = (text: string) => createHash('sha256').update(text).digest('base64');

/** The runs of all partners, in memory. If there are too many, the longest idle run is forgotten. */
export function createRuns(bounds: RehearsalsBounds, nowMs: () => number) {
  /** The longest idle run is first. */
  const runs = new Map<string, Run>();
  let requests = 0;

  function forget(): void {
    for (const [id, run] of runs) {
      const isIdle = nowMs() - run.usedMs >= bounds.runIdleMs;
      if (!isIdle && runs.size <= bounds.runs && requests <= bounds.requests) return;
      runs.delete(id);
      requests -= run.requests.length;
    }
  }

  return {
    findWatched: (watchId: string) => runs.values().find((run) => run.watchId === watchId),

    /** The run of a new request. */
    open(partnerId: string, scenario: ScenarioName, name: string): Run {
      forget();
      // Neither scenario nor run contains a space.
      const id = `${scenario}.${name} ${partnerId}`;
      const run = runs.get(id) ?? new Run(scenario);
      run.usedMs = nowMs();
      runs.delete(id);
      runs.set(id, run);
      return run;
    },

    add(run: Run, method: string, target: string, startedMs: number): SeenRequest {
      const request: SeenRequest = {
        id: digestOf(`${method} ${target}`),
        at: new Date(nowMs()).toISOString(),
        method,
        path: shownTarget(target, bounds.pathCharacters),
        hasCursor: /[?&]cursor=/.test(target),
        startedMs,
      };
      run.requests.push(request);
      if (run.requests.length > bounds.runRequests) run.requests.shift();
      else requests += 1;
      forget();
      return request;
    },
  };
}

/** A path with its query, with keys masked and cut to length. A cursor is shown, although it looks secret. */
function shownTarget(target: string, characters: number): string {
  const shown = target.replace(/[^?&]+/g, (part) => {
    if (holdsKey(decoded(part))) return maskKeys(decoded(part));
    return part.startsWith('cursor=') ? part : maskKeys(part);
  });
  // A copy, because a part of a string keeps the whole string in memory.
  return Buffer.from(shown.slice(0, characters)).toString();
}

/** Decodes percent-encoding where it is valid. */
export function decoded(text: string): string {
  return text.replace(/%[0-9a-f]{2}/gi, (code) => String.fromCharCode(Number.parseInt(code.slice(1), 16)));
}

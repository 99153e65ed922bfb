/** The paths of rehearsals. */
import { basePath } from '@partner-network/contract/operations';
import type { Exchange, Route, Routes } from '../http/handle.ts';
import { maskKeys } from '../lib/text.ts';
import type { Run } from './runs.ts';
import { type ScenarioName, scenarioNames, scenarios } from './scenarios.ts';
import type { Verdict } from './verdict.ts';

export interface RehearsalPath {
  readonly scenario: ScenarioName;
  readonly name: string;
  /** The path after the run. Empty in the path of the verdict. */
  readonly rest: string;
}

const listPath = '/rehearsals';
const form = new RegExp(`^${listPath}/([a-z-]+)(?:\\.([\\w-]{1,64}))?(${basePath}(?:/.*)?)?$`);

/** Undefined for every other path, also if only its scenario is unknown. */
export function rehearsalPath(path: string): RehearsalPath | undefined {
  const [, scenario = '', name = 'default', rest = ''] = form.exec(path) ?? [];
  return Object.hasOwn(scenarios, scenario) ? { scenario: scenario as ScenarioName, name, rest } : undefined;
}

/** The usual routes, which are found also under the path of a run. */
export class RehearsedRoutes extends Map<string, Route> {
  constructor(routes: Routes) {
    super([...routes, [listPath, listRoute]]);
  }

  override get(path: string): Route | undefined {
    return super.get(rehearsalPath(path)?.rest || path);
  }

  override has(path: string): boolean {
    return this.get(path) !== undefined;
  }
}

async function listRoute(exchange: Exchange): Promise<string> {
  return json(exchange, { scenarios: scenarioNames.map((name) => ({ name, ...scenarios[name] })) });
}

export function json({ headers }: Exchange, body: object): string {
  headers.push('Content-Type', 'application/json; charset=utf-8', 'Cache-Control', 'no-store');
  return JSON.stringify(body);
}

/** The body of a verdict. */
export function verdictOf({ scenario, name }: RehearsalPath, { requests, judge }: Run): Verdict {
  const answered = requests.flatMap(({ atMs, method, path, status }) =>
    status === undefined ? [] : [{ at: new Date(atMs).toISOString(), method, path, status }],
  );
  // A client may send its key in place of the run.
  return { scenario, run: maskKeys(name), requests: answered, promises: judge.promises() };
}

/** The paths of rehearsals. */
import { basePath } from '@partner-network/contract/operations';
import { type ScenarioName, scenarios } from './scenarios.ts';

export interface RehearsalPath {
  readonly scenario: ScenarioName;
  readonly run: string;
  /** The path without the rehearsal's part. Absent in the path of the verdict. */
  readonly rest?: string | undefined;
}

export const listPath = '/rehearsals';

const form = new RegExp(`^${listPath}/([a-z-]+)(?:\\.([\\w-]{1,64}))?(${basePath}(?:/.*)?)?$`);

/** Undefined for every path that is not part of a rehearsal, also if only its scenario is unknown. */
export function rehearsalPath(path: string): RehearsalPath | undefined {
  if (!path.startsWith(listPath)) return undefined;
  const [, scenario = '', run = 'default', rest] = form.exec(path) ?? [];
  return Object.hasOwn(scenarios, scenario) ? { scenario: scenario as ScenarioName, run, rest } : undefined;
}

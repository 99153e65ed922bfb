/** Runs cases against a deployment, one after another. */
import type { Case } from './case.ts';
import { access } from './cases/access.ts';
import { answers } from './cases/answers.ts';
import { http } from './cases/http.ts';
import { pages } from './cases/pages.ts';
import { parameters } from './cases/parameters.ts';
import { records } from './cases/records.ts';
import { balances, createProbe, type Probe, type Supplied, variables } from './probe.ts';
import { type CaseResult, createRedaction } from './report.ts';
import { Failure, Skip, Untestable } from './send.ts';

/** The last cases look at the answers of all others. */
export const allCases: readonly Case[] = [records, pages, parameters, access, http, answers]
  .flat()
  .flatMap(({ all }) => all);

/** The cases of a profile. The sections of the specification have numbers. */
export const casesOf = (profile: 'specification' | 'decisions') =>
  allCases.filter(({ section }) => profile === 'decisions' || /^\d/.test(section));

interface Run {
  /** Ends in /network/v1, without a slash. */
  readonly baseUrl: string;
  readonly supplied: Supplied;
  readonly isBurst: boolean;
  readonly expectedFailures: ReadonlySet<string>;
  /** Called before each case. */
  readonly onCase?: (id: string, number: number) => void;
}

/** The results by section. Throws an `Untestable` if the deployment does not answer, or not as this API. */
export async function runCases(cases: readonly Case[], run: Run): Promise<readonly CaseResult[]> {
  const probe = createProbe(new URL(run.baseUrl), run.supplied, run.isBurst);
  await preflight(probe, run.supplied);
  const results: CaseResult[] = [];
  for (const each of cases) {
    const { id, section, promise: title } = each;
    run.onCase?.(id, results.length + 1);
    results.push({ id, section, title, ...(await outcomeOf(each, run, probe)) });
  }
  const inOrder = new Intl.Collator('en', { numeric: true });
  return results.toSorted((one, other) => inOrder.compare(one.section, other.section));
}

/** The simplest requests must reach the API, with a key and a grant that work. */
async function preflight(probe: Probe, supplied: Supplied): Promise<void> {
  const answer = await probe.send({ path: '/brands?limit=1' });
  const { status, json } = answer;
  const isRefused = [0, 401, 403, 404, 429, 503].includes(status) || /^3/.test(String(status));
  if (isRefused || typeof json !== 'object' || json === null) throw new Untestable('', { cause: answer });

  if (supplied.PARTNER_NETWORK_CUSTOMER_ID === undefined) return;
  const page = await probe.send(balances({ limit: 1, grant_id: supplied.PARTNER_NETWORK_GRANT_ID }));
  if (page.status === 403) throw new Untestable('', { cause: page });
}

async function outcomeOf({ id, check }: Case, run: Run, probe: Probe) {
  try {
    const broken = await check(probe);
    if (broken === undefined) return { status: 'passed' } as const;
    throw new Failure('an answer that keeps the promise', { cause: broken });
  } catch (error) {
    if (error instanceof Untestable) throw error;
    const { mask, shownRequest, shownAnswer } = createRedaction(run.supplied);
    const { name, message } = error as Error;
    if (error instanceof Skip)
      return { status: 'skipped', variable: message in variables ? message : mask(message) } as const;
    const answer = error instanceof Failure ? error.cause : probe.answers.at(-1)!;
    // The message of any other error may repeat a part of the answer.
    const expected = error instanceof Failure ? message : `an answer that the case can read (${name})`;
    return {
      status: run.expectedFailures.has(id) ? 'expected' : 'failed',
      request: shownRequest(answer),
      answer: shownAnswer(answer),
      expected: mask(expected),
    } as const;
  }
}

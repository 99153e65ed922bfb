/** Runs cases against a deployment, one after another. */
import { type Case, type CaseResult, Failure, type Profile, Skip } from './case.ts';
import type { Given } from './given.ts';
import { createProbe, type Probe } from './probe.ts';
import { createRedaction } from './redact.ts';
import { Untestable } from './send.ts';

export interface Run {
  /** Ends in /network/v1, without a slash. */
  readonly baseUrl: string;
  readonly given: Given;
  readonly isBurst: boolean;
  readonly expectedFailures: ReadonlySet<string>;
  /** Called before each case, and after the last one. */
  readonly onCase?: ((number: number) => void) | undefined;
}

export function casesOf(all: readonly Case[], profile: Profile): readonly Case[] {
  return all.filter((each) => each.profile === 'specification' || profile === 'decisions');
}

/** The results by section. Throws an `Untestable` if the deployment does not answer, or not as this API. */
export async function runCases(cases: readonly Case[], run: Run): Promise<readonly CaseResult[]> {
  const probe = createProbe(new URL(run.baseUrl), run.given);
  await preflight(probe);
  const results: CaseResult[] = [];
  for (const each of cases) {
    run.onCase?.(results.length + 1);
    const { id, section, title } = each;
    results.push({ id, section, title, ...(await outcomeOf(each, run, probe)) });
  }
  run.onCase?.(results.length + 1);
  const inOrder = new Intl.Collator('en', { numeric: true });
  return results.toSorted((one, other) => inOrder.compare(one.section, other.section));
}

/** The simplest requests must reach the API, with a key and a grant that work. */
async function preflight(probe: Probe): Promise<void> {
  const answer = await probe.get('/brands?limit=1');
  const { status, json } = answer;
  const isRefused = [0, 401, 403, 404, 429, 503].includes(status) || /^3/.test(String(status));
  if (isRefused || typeof json !== 'object' || json === null) throw new Untestable('', { cause: answer });

  const { PARTNER_NETWORK_CUSTOMER_ID: customer, PARTNER_NETWORK_GRANT_ID: grant } = probe.given;
  if (customer === undefined) return;
  const named = grant === undefined ? '' : `&grant_id=${encodeURIComponent(grant)}`;
  const query = `customer_id=${encodeURIComponent(customer)}&type=CHECKING&limit=1${named}`;
  const balances = await probe.get(`/balances?${query}`);
  if (balances.status === 403) throw new Untestable('', { cause: balances });
}

async function outcomeOf({ id, needs, check }: Case, run: Run, probe: Probe) {
  const missing = needs.find((need) => (need === '--burst' ? !run.isBurst : run.given[need] === undefined));
  if (missing !== undefined) return { status: 'skipped', variable: missing } as const;
  try {
    await check(probe);
    return { status: 'passed' } as const;
  } catch (error) {
    if (error instanceof Untestable) throw error;
    const { mask, shownRequest, shownAnswer } = createRedaction(run.given);
    if (error instanceof Skip) return { status: 'skipped', variable: mask(error.message) } as const;
    // The message of any other error may repeat a part of the answer.
    const unread = `an answer that the case can read (${(error as Error).name})`;
    const { cause: answer, message } =
      error instanceof Failure ? error : { cause: probe.answers.at(-1)!, message: unread };
    const status = run.expectedFailures.has(id) ? 'expected' : 'failed';
    return {
      status,
      request: shownRequest(answer),
      answer: shownAnswer(answer),
      expected: mask(message),
    } as const;
  }
}

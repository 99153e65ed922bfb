/** Runs cases against a deployment, one after another. */
import {
  type Answer,
  type Case,
  type CaseResult,
  Failure,
  type Given,
  type Probe,
  type Profile,
  Skip,
} from './case.ts';
import { createRedaction } from './redact.ts';
import { createSender, Untestable } from './send.ts';

export interface Run {
  /** Ends in /network/v1, without a slash. */
  readonly baseUrl: string;
  readonly given: Given;
  readonly isBurst: boolean;
  readonly expectedFailures: ReadonlySet<string>;
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
    const { id, section, title } = each;
    results.push({ id, section, title, ...(await outcomeOf(each, run, probe)) });
  }
  const inOrder = new Intl.Collator('en', { numeric: true });
  return results.toSorted((one, other) => inOrder.compare(one.section, other.section));
}

/** The simplest request must reach the API, with a key that works. */
async function preflight(probe: Probe): Promise<void> {
  const answer = await probe.get('/brands?limit=1');
  const { status, json } = answer;
  const isRefused = [0, 401, 403, 404, 429, 503].includes(status) || /^3/.test(String(status));
  if (isRefused || typeof json !== 'object' || json === null) throw new Untestable(answer);
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
    const expected = `an answer that the case can read (${(error as Error).name})`;
    const failure = error instanceof Failure ? error : new Failure(probe.answers.at(-1)!, expected);
    return {
      status: run.expectedFailures.has(id) ? 'expected' : 'failed',
      request: shownRequest(failure.answer),
      answer: shownAnswer(failure.answer),
      expected: mask(failure.expected),
    } as const;
  }
}

function createProbe(base: URL, given: Given): Probe {
  const sender = createSender(base);
  const shared = new Map<string, Promise<unknown>>();
  const answers: Answer[] = [];
  const kept = (answer: Answer) => {
    answers.push(answer);
    return answer;
  };
  const ownKey = `Bearer ${given.PARTNER_NETWORK_API_KEY}`;

  const textOf = (target: string, authorization = ownKey, method = 'GET') =>
    [
      `${method} ${base.pathname}${target} HTTP/1.1`,
      `Host: ${base.host}`,
      'User-Agent: partner-network-conformance',
      'Connection: close',
      ...(authorization === '' ? [] : [`Authorization: ${authorization}`]),
      '\r\n',
    ].join('\r\n');
  const pathOf = (target: string) => target.split('?')[0];

  return {
    base,
    given,
    answers,
    get: async (target, ...rest) => kept(await sender.send(textOf(target, ...rest), pathOf(target))),
    raw: async (text) => kept(await sender.send(text)),
    burst: async (count, target) => (await sender.burst(count, textOf(target), pathOf(target))).map(kept),
    once: <Value>(name: string, make: () => Promise<Value>) => {
      const made = shared.get(name) ?? make();
      shared.set(name, made);
      made.catch(() => shared.delete(name));
      return made as Promise<Value>;
    },
  };
}

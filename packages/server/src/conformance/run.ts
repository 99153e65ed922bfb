/** Runs cases against a deployment, one after another. */
import {
  type Answer,
  type Case,
  type CaseResult,
  Failure,
  type Given,
  type Probe,
  type Profile,
  type Query,
  type Sending,
  Skip,
} from './case.ts';
import { createMask, shownAnswer, shownTarget } from './redact.ts';
import { createSender, type Outgoing, Untestable } from './send.ts';

export interface Run {
  /** Ends in /network/v1, without a slash. */
  readonly baseUrl: string;
  readonly given: Given;
  readonly isBurst: boolean;
  readonly expectedFailures: ReadonlySet<string>;
  /** Called after each case with the number of cases so far. */
  readonly onProgress?: (done: number) => void;
}

/** The cases of a profile, in the order of the report. */
export function casesOf(all: readonly Case[], profile: Profile): readonly Case[] {
  return all.filter((each) => each.profile === 'specification' || profile === 'decisions');
}

/** The results by section. Throws an `Untestable` if the deployment does not answer, or not as this API. */
export async function runCases(cases: readonly Case[], run: Run): Promise<readonly CaseResult[]> {
  const base = new URL(run.baseUrl);
  const sender = createSender(base);
  const probe = createProbe(run, base, sender);
  const results: CaseResult[] = [];
  try {
    await preflight(probe);
    for (const each of cases) {
      results.push(await resultOf(each, run, probe));
      run.onProgress?.(results.length);
    }
    const inOrder = new Intl.Collator('en', { numeric: true });
    return results.toSorted((one, other) => inOrder.compare(one.section, other.section));
  } finally {
    sender.close();
  }
}

/** The simplest request must reach the API, with a key that works. */
async function preflight(probe: Probe): Promise<void> {
  const answer = await probe.get('/brands', { limit: 1 });
  const { status, fault, json } = answer;
  if (fault !== undefined) throw new Untestable('unreachable', answer);
  if ([401, 403, 429, 503].includes(status)) throw new Untestable('refused', answer);
  const isForeign = typeof json !== 'object' || json === null || status === 404 || /^3/.test(String(status));
  if (isForeign) throw new Untestable('foreign', answer);
}

async function resultOf(each: Case, run: Run, probe: Probe): Promise<CaseResult> {
  const { id, section, title, needs = [], needsBurst } = each;
  const missing = needs.find((variable) => run.given[variable] === undefined);
  const variable = missing ?? (needsBurst && !run.isBurst ? '--burst' : undefined);
  if (variable !== undefined) return { id, section, title, status: 'skipped', variable };
  try {
    await each.check(probe);
    return { id, section, title, status: 'passed' };
  } catch (error) {
    if (error instanceof Untestable) throw error;
    const mask = createMask(run.given);
    if (error instanceof Skip)
      return { id, section, title, status: 'skipped', variable: mask(error.message) };
    // The message of any other error may repeat a part of the answer.
    const cannotRead = `an answer that the case can read (${(error as Error).name})`;
    const { answer, expected } =
      error instanceof Failure ? error : { answer: probe.answers.at(-1)!, expected: cannotRead };
    const status = run.expectedFailures.has(id) ? 'expected' : 'failed';
    const [request, shown] = [answer.request, shownAnswer(answer)].map(mask);
    return { id, section, title, status, request, answer: shown, expected: mask(expected) };
  }
}

function createProbe({ given }: Run, base: URL, sender: ReturnType<typeof createSender>): Probe {
  const results = new Map<string, Promise<unknown>>();
  const answers: Answer[] = [];
  const kept = (answer: Answer) => {
    answers.push(answer);
    return answer;
  };

  function outgoing(path: string, query: Query | string = {}, sending: Sending = {}): Outgoing {
    const { method = 'GET', key = 'PARTNER_NETWORK_API_KEY', atOrigin } = sending;
    const text = typeof query === 'string' ? query : queryText(query);
    const target = (atOrigin ? '' : base.pathname) + path + (text && `?${text}`);
    const credentials = (value: string) => ['Authorization', value, ...(sending.headers ?? [])];
    const isVariable = typeof key === 'string';
    const headers =
      key === null ? credentials('').slice(2) : credentials(isVariable ? `Bearer ${given[key]}` : key.header);
    const shown = isVariable ? credentials(`Bearer $${key}`) : headers;
    const lines = shown.map((part, index) => (index % 2 === 0 ? `\n${part}: ` : part));
    const request = `${method} ${shownTarget(target, given)}${lines.join('')}`;
    return { request, method, path: atOrigin ? undefined : path, target, headers };
  }

  const filledIn = (template: string, key: string) =>
    template.replaceAll('{path}', base.pathname).replaceAll('{host}', base.host).replaceAll('{key}', key);

  return {
    given,
    answers,
    get: async (path, query, sending) => kept(await sender.send(outgoing(path, query, sending))),
    raw: async (template) => {
      const bytes = Buffer.from(filledIn(template, given.PARTNER_NETWORK_API_KEY!), 'latin1');
      const shown = filledIn(template, '$PARTNER_NETWORK_API_KEY').replaceAll('\r', '').trimEnd();
      return kept(await sender.raw(bytes, shown));
    },
    burst: async (count, path, query) => (await sender.burst(outgoing(path, query), count)).map(kept),
    once: <Value>(name: string, make: () => Promise<Value>) => {
      const made = results.get(name) ?? make();
      results.set(name, made);
      made.catch(() => results.delete(name));
      return made as Promise<Value>;
    },
    expect: (answer, holds, expected) => {
      if (!holds) throw new Failure(answer, expected);
    },
  };
}

function queryText(query: Query): string {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    [value ?? []].flat().map((one) => `${encodeURIComponent(name)}=${encodeURIComponent(one)}`),
  );
  return pairs.join('&');
}

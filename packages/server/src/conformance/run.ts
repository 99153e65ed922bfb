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

/** Throws an `Untestable` if the deployment does not answer, or not as this API. */
export async function runCases(cases: readonly Case[], run: Run): Promise<readonly CaseResult[]> {
  const prober = createProbe(run);
  const results: CaseResult[] = [];
  try {
    await preflight(prober.probe);
    for (const each of cases) {
      results.push(await resultOf(each, run, prober));
      run.onProgress?.(results.length);
    }
    return results;
  } finally {
    prober.close();
  }
}

/** The simplest request must reach the API, with a key that works. */
async function preflight(probe: Probe): Promise<void> {
  const answer = await probe.get('/brands', { limit: 1 });
  const { status, fault, json } = answer;
  if (fault !== undefined) throw new Untestable('unreachable', answer);
  if ([401, 403, 429, 503].includes(status)) throw new Untestable('refused', answer);
  const isOurs = typeof json === 'object' && json !== null && status !== 404;
  if (!isOurs || (status >= 300 && status < 400)) throw new Untestable('foreign', answer);
}

type Prober = ReturnType<typeof createProbe>;

async function resultOf(each: Case, run: Run, { probe, mask }: Prober): Promise<CaseResult> {
  const { id, section, title, needs = [], needsBurst } = each;
  const missing = needs.find((variable) => run.given[variable] === undefined);
  const variable = missing ?? (needsBurst && !run.isBurst ? '--burst' : undefined);
  if (variable !== undefined) return { id, section, title, status: 'skipped', variable };
  try {
    await each.check(probe);
    return { id, section, title, status: 'passed' };
  } catch (error) {
    if (error instanceof Untestable) throw error;
    if (error instanceof Skip) return { id, section, title, status: 'skipped', variable: error.message };
    const answer = error instanceof Failure ? error.answer : probe.answers.at(-1);
    // The message of any other error may repeat a part of the answer.
    const expected =
      error instanceof Failure
        ? error.expected
        : `an answer that the case can read (${(error as Error).name})`;
    const status = run.expectedFailures.has(id) ? 'expected' : 'failed';
    const shown = {
      request: mask(answer?.request ?? ''),
      answer: mask(answer === undefined ? '' : shownAnswer(answer)),
    };
    return { id, section, title, status, ...shown, expected: mask(expected) };
  }
}

function createProbe({ baseUrl, given }: Run) {
  const base = new URL(baseUrl);
  const sender = createSender(base);
  const results = new Map<string, Promise<unknown>>();
  const answers: Answer[] = [];

  const outgoing = (path: string, query: Query | string = {}, sending: Sending = {}): Outgoing => {
    const { method = 'GET', key = 'PARTNER_NETWORK_API_KEY', headers = [], atOrigin, repeats } = sending;
    const text = typeof query === 'string' ? query : queryText(query);
    const target = (atOrigin ? '' : base.pathname) + path + (text && `?${text}`);
    const shown = [`${method} ${shownTarget(target, given)}`];
    const sent: string[] = [];
    if (typeof key === 'string') {
      sent.push('Authorization', `Bearer ${given[key]}`);
      shown.push(`Authorization: Bearer $${key}`);
    }
    const own = typeof key === 'object' && key !== null ? ['Authorization', key.header, ...headers] : headers;
    for (let index = 0; index < own.length; index += 2) shown.push(`${own[index]}: ${own[index + 1]}`);
    const asked = atOrigin ? undefined : path;
    return { method, path: target, headers: [...sent, ...own], asked, shown: shown.join('\n'), repeats };
  };

  const probe: Probe = {
    given,
    answers,
    get: async (path, query, sending) => {
      const answer = await sender.send(outgoing(path, query, sending));
      answers.push(answer);
      return answer;
    },
    raw: async (template) => {
      const fillIn = (isShown: boolean) =>
        template.replace(/\{(\w+)\}/g, (whole, name: string) => {
          if (name === 'path') return base.pathname;
          if (name === 'host') return base.host;
          const variable = name === 'key' ? 'PARTNER_NETWORK_API_KEY' : name;
          if (!(variable in given)) return whole;
          return isShown ? `$${variable}` : given[variable as keyof Given]!;
        });
      const shown = fillIn(true).replaceAll('\r\n', '\n');
      const answer = await sender.raw(Buffer.from(fillIn(false), 'latin1'), shown);
      answers.push(answer);
      return answer;
    },
    burst: async (count, path, query) => {
      const burst = await sender.burst(outgoing(path, query), count);
      answers.push(...burst);
      return burst;
    },
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
  return { probe, mask: createMask(given), close: sender.close, sent: sender.sent };
}

function queryText(query: Query): string {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    [value ?? []].flat().map((one) => `${encodeURIComponent(name)}=${encodeURIComponent(one)}`),
  );
  return pairs.join('&');
}

/** Programs of partners, each with a fault that is common. They read all pages, and handle the rest well. */
import { setTimeout as wait } from 'node:timers/promises';

export interface Target {
  readonly url: string;
  readonly apiKey: string;
}

/** A page, or what came in its place: the status is 0 if no complete response came. */
interface Answer {
  readonly status: number;
  readonly code?: string | undefined;
  readonly location?: string | undefined;
  readonly retryAfterMs?: number;
  readonly records?: readonly unknown[];
  readonly cursor?: string | undefined;
}

const limit = 50;
/** More requests than a scenario needs. */
const most = 50;

async function get(url: string, apiKey: string): Promise<Answer> {
  try {
    const response = await fetch(url, {
      headers: { authorization: `Bearer ${apiKey}` },
      redirect: 'manual',
      signal: AbortSignal.timeout(2_000),
    });
    const { status, headers } = response;
    const body = JSON.parse((await response.text()) || '{}');
    return {
      status,
      code: body.errors?.[0].code,
      location: headers.get('location') ?? undefined,
      retryAfterMs: Number(headers.get('retry-after-ms') ?? Number(headers.get('retry-after')) * 1_000),
      records: body.brands ?? body.balances,
      cursor: body.cursor,
    };
  } catch {
    return { status: 0 };
  }
}

const isTransient = ({ status }: Answer) => status === 0 || status === 429 || status >= 500;

const pageUrl = ({ url }: Target, cursor: string | undefined) =>
  `${url}limit=${limit}${cursor === undefined ? '' : `&cursor=${cursor}`}`;

/** Sends a request again at once, whether the answer is a 429 or another failure, and knows no restart. */
export async function ignores429(target: Target): Promise<void> {
  let cursor: string | undefined;
  for (let requests = 0; requests < most; requests += 1) {
    const answer = await get(pageUrl(target, cursor), target.apiKey);
    if (isTransient(answer)) continue;
    cursor = answer.cursor;
    if (cursor === undefined) return;
  }
}

/** Waits as asked, and then begins with the first page again, whatever the fault was. */
export async function restartsOnAnyFault(target: Target): Promise<void> {
  for (let restarts = 0; restarts <= 3; restarts += 1) {
    let answer: Answer = { status: 200 };
    let cursor: string | undefined;
    do {
      answer = await get(pageUrl(target, cursor), target.apiKey);
      cursor = answer.cursor;
    } while (cursor !== undefined);
    if (answer.status === 200) return;
    await wait(Math.max(100, (answer.retryAfterMs ?? 0) + 20));
  }
}

/** Takes a page with fewer records than `limit` for the last, and follows a redirect with its key. */
export async function stopsEarlyAndFollows(target: Target): Promise<void> {
  let cursor: string | undefined;
  let redirected: string | undefined;
  let hasRestarted = false;
  for (let requests = 0; requests < most; requests += 1) {
    const answer = await get(redirected ?? pageUrl(target, cursor), target.apiKey);
    redirected = answer.location;
    if (isTransient(answer)) await wait(Math.max(100, (answer.retryAfterMs ?? 0) + 20));
    else if (answer.code === 'INVALID_CURSOR' && !hasRestarted) {
      hasRestarted = true;
      cursor = undefined;
    } else if (answer.status === 200) {
      if (answer.cursor === undefined || answer.records!.length < limit) return;
      cursor = answer.cursor;
    } else if (redirected === undefined) return;
  }
}

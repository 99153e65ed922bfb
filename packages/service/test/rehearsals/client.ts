/** A polite client in a few lines, and the verdict on a run. */
import assert from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';
import { keys } from '../../../testkit/fixtures/fixture.ts';
import type { Caller } from '../../../testkit/fixtures/http.ts';
import type { PromiseName, Verdict } from '../../src/rehearsals/scenarios.ts';

export const urlOf = (port: number, run: string) => `http://127.0.0.1:${port}/rehearsals/${run}`;

export const brands = '/network/v1/brands?limit=1';
export const balances = '/network/v1/balances?customer_id=alice&type=CHECKING&limit=1';

/** The client of `stalled` has to time out. */
export function get(url: string): Promise<Response> {
  const headers = { Authorization: `Bearer ${keys.acme}` };
  const timeoutMs = url.includes('/stalled') ? 8_000 : 20_000;
  return fetch(url, { headers, redirect: 'manual', signal: AbortSignal.timeout(timeoutMs) });
}

/** Walks through a listing. Returns the ids of its records, and the status of each response. */
export async function walk(port: number, run: string, listing: string) {
  const statuses: (number | string)[] = [];
  let records: { id: string }[] = [];
  let cursor: string | undefined;
  while (statuses.length < 20) {
    const next = cursor === undefined ? '' : `&cursor=${cursor}`;
    const answered = await get(urlOf(port, run) + listing + next).catch(() => undefined);
    const text = await answered?.text().catch(() => undefined);
    statuses.push(text === undefined ? 'broken off' : answered!.status);
    if (answered?.status === 200 && text !== undefined) {
      const page = JSON.parse(text);
      records = [...records, ...(page.brands ?? page.balances)];
      cursor = page.cursor;
      if (cursor === undefined) break;
    } else if (answered?.status === 400 && text?.includes('INVALID_CURSOR')) {
      cursor = undefined;
      records = [];
    } else {
      if (answered !== undefined && answered.status < 500 && answered.status !== 429 && text !== undefined)
        break;
      const seconds = Number(answered?.headers.get('retry-after') ?? 0);
      await wait(Math.max(Number(answered?.headers.get('retry-after-ms') ?? seconds * 1_000), 500));
    }
  }
  return { statuses, ids: records.map(({ id }) => id) };
}

export async function verdictOf(
  caller: Pick<Caller, 'call'>,
  run: string,
  key = keys.acme,
): Promise<Verdict> {
  const { status, text } = await caller.call(`/rehearsals/${run}`, { key });
  assert.equal(status, 200, text);
  return JSON.parse(text);
}

/** The promises with another verdict than `kept`. */
export function notKept({ promises }: Pick<Verdict, 'promises'>): Partial<Record<PromiseName, string>> {
  const others = promises.filter(({ verdict }) => verdict !== 'kept');
  return Object.fromEntries(others.map(({ name, verdict }) => [name, verdict]));
}

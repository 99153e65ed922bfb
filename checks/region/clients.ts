/** Clients outside the regions, and what they measure. */
import { setTimeout as wait } from 'node:timers/promises';
import { keys } from '../../packages/testkit/fixtures/fixture.ts';
import { quantile } from '../bench/lib/report.ts';

/** The service answers within 2 s, so a client gives up after 3. */
const giveUpMs = 3_000;

export const brands = '/network/v1/brands';
export const balancesOf = (customer: string, grant?: string) =>
  `/network/v1/balances?customer_id=${customer}&type=CHECKING${grant ? `&grant_id=${grant}` : ''}`;

/** The status of an answer, or 0 without an answer. */
export async function statusOf(port: number, path: string, key: string = keys.acme): Promise<number> {
  try {
    const headers = { Authorization: `Bearer ${key}` };
    const signal = AbortSignal.timeout(giveUpMs);
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, { headers, signal });
    await answer.arrayBuffer();
    return answer.status;
  } catch {
    return 0;
  }
}

/** The path of the second page of brands, by the cursor of an instance. */
export async function secondPage(port: number): Promise<string> {
  const headers = { Authorization: `Bearer ${keys.acme}` };
  const answer = await fetch(`http://127.0.0.1:${port}${brands}?limit=1`, { headers });
  const { cursor } = (await answer.json()) as { cursor: string };
  return `${brands}?limit=1&cursor=${encodeURIComponent(cursor)}`;
}

/** The milliseconds of a request, in the middle of many. */
export async function usualMs(port: number, path: string): Promise<number> {
  const took: number[] = [];
  for (let turn = 0; turn < 40; turn += 1) {
    const startedMs = performance.now();
    if ((await statusOf(port, path)) !== 200) throw new Error(`${path} is refused.`);
    took.push(performance.now() - startedMs);
    // Less often than the key is kept, so that some requests look it up.
    await wait(100);
  }
  return quantile(took, 0.5);
}

/** The number of requests of a partner that each port admits a second, with requests at all of them. */
export async function admittedPerSecond(ports: readonly number[]): Promise<string> {
  const startMs = performance.now();
  const [warmMs, endMs] = [startMs + 1_500, startMs + 5_500];
  const admitted = ports.map(() => 0);
  const send = async (index: number) => {
    while (performance.now() < endMs) {
      const status = await statusOf(ports[index]!, brands, keys.zenith);
      const isCounted = performance.now() > warmMs && performance.now() < endMs;
      if (status === 200 && isCounted) admitted[index]! += 1;
      await wait(10);
    }
  };
  await Promise.all(ports.flatMap((_, index) => [index, index, index, index]).map(send));
  return admitted.map((count) => (count / 4).toFixed(0)).join(' + ');
}

interface Sent {
  readonly startMs: number;
  readonly endMs: number;
  readonly status: number;
}

/** Starts clients that send ten requests a second each, and go to the other region after a failure. */
export function startClients(ports: readonly [number, number], count: number) {
  const sent: Sent[] = [];
  let isOver = false;
  const client = async (number: number) => {
    let region = number % 2;
    for (let turn = number; !isOver; turn += 1) {
      const startMs = performance.now();
      const status = await statusOf(ports[region]!, turn % 3 === 0 ? brands : balancesOf('alice'));
      sent.push({ startMs, endMs: performance.now(), status });
      if (status !== 200) region = 1 - region;
      await wait(100);
    }
  };
  const all = Promise.all(Array.from({ length: count }, (_, number) => client(number)));
  return {
    /** The failures since then, and when the last of them ended. */
    failuresSince: (sinceMs: number) => {
      const failed = sent.filter(({ status, endMs }) => status !== 200 && endMs > sinceMs);
      const lastMs = Math.max(sinceMs, ...failed.map(({ endMs }) => endMs)) - sinceMs;
      return { failed: failed.length, silent: failed.filter(({ status }) => status === 0).length, lastMs };
    },
    stop: async () => {
      isOver = true;
      await all;
    },
  };
}

/** Asks until the answer has this status. Resolves to the milliseconds since then, of the request's start. */
export async function msUntil(status: number, sinceMs: number, ask: () => Promise<number>): Promise<number> {
  for (;;) {
    const askedMs = performance.now();
    if ((await ask()) === status) return Math.max(0, askedMs - sinceMs);
    await wait(5);
  }
}

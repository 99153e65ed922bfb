/** Clients that send one request after the other, never retry, and record every wrong answer. */
import { Agent, get, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';
import { keys } from '../../packages/testkit/fixtures/fixture.ts';

interface Call {
  readonly port: number;
  readonly path: string;
  readonly key: string;
  /** The right answer. */
  readonly text: string;
}

type Page = Pick<Call, 'path' | 'key'>;

const pageOfFixture: Page = { path: '/network/v1/brands', key: keys.acme };

/** A page of brands, with the answer of the instance at this port. */
export async function callForBrands(port: number, { path, key }: Page = pageOfFixture): Promise<Call> {
  const headers = { Authorization: `Bearer ${key}` };
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, { headers });
  return { port, path, key, text: await answer.text() };
}

/** Resolves to what is wrong with the answer, or undefined. */
async function callOnce(agent: Agent, { port, path, key, text: right }: Call): Promise<string | undefined> {
  const headers = { Authorization: `Bearer ${key}` };
  const signal = AbortSignal.timeout(10_000);
  try {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      get({ agent, host: '127.0.0.1', port, path, headers, signal }, resolve).on('error', reject);
    });
    const received = await text(response);
    const sender = response.headers['x-answered-by'] ?? 'an instance';
    if (response.statusCode !== 200) return `status ${response.statusCode} from ${sender}`;
    return received === right ? undefined : 'another answer';
  } catch (error) {
    if (signal.aborted) return 'no answer within 10 s';
    const { code, message } = error as NodeJS.ErrnoException;
    return code ?? message;
  }
}

interface Totals {
  readonly tookMs: readonly number[];
  /** The number of failures of each kind. */
  readonly failures: ReadonlyMap<string, number>;
}

/** Starts callers that together send `perSecond` requests. Each keeps its connection. */
export function startCallers(call: Call, count: number, perSecond: number) {
  const failures = new Map<string, number>();
  const tookMs: number[] = [];
  const intervalMs = (count / perSecond) * 1_000;
  let isStopped = false;

  async function run(caller: number): Promise<void> {
    const kept = new Agent({ keepAlive: true, maxSockets: 1 });
    // Spreads the callers over the interval.
    await wait((intervalMs * caller) / count);
    while (!isStopped) {
      const startedMs = performance.now();
      const failure = await callOnce(kept, call);
      const ms = performance.now() - startedMs;
      tookMs.push(ms);
      if (failure !== undefined) failures.set(failure, (failures.get(failure) ?? 0) + 1);
      await wait(Math.max(0, intervalMs - ms));
    }
    kept.destroy();
  }

  const all = Promise.all(Array.from({ length: count }, (_, caller) => run(caller)));
  const totals = (): Totals => ({ tookMs, failures });
  return {
    totals,
    /** Resolves when the last request is answered. */
    stop: async () => {
      isStopped = true;
      await all;
      return totals();
    },
  };
}

export function failuresText({ failures }: Totals): string {
  const kinds = [...failures].map(([kind, count]) => `${count} × ${kind}`);
  return kinds.length === 0 ? 'none failed' : `failed: ${kinds.join(', ')}`;
}

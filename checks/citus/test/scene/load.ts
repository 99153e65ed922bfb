/** Clients that call the listings at a steady rate, however long answers take. Every answer is checked. */
import assert from 'node:assert/strict';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { TestContext } from 'node:test';
import { assertUnavailable, createCaller } from '../../../../packages/testkit/fixtures/http.ts';
import type { Target } from './stage.ts';

export interface Sample {
  readonly target: Target;
  readonly sentMs: number;
  readonly tookMs: number;
  /** Whether it was the right page. Otherwise it was a 503, because anything else fails the test. */
  readonly isPage: boolean;
  readonly requestId: string;
}

const perSecond = 40;
const pageSize = 20;

/** Calls the targets in turn. */
export function startLoad(port: number, targets: readonly Target[]) {
  const { call, disconnect } = createCaller(port);
  const delay = monitorEventLoopDelay({ resolution: 5 });
  delay.enable();
  const samples: Sample[] = [];
  const running = new Set<Promise<void>>();
  let fault: Error | undefined;
  let turn = 0;

  async function ask(target: Target): Promise<void> {
    const sentMs = performance.now();
    const answer = await call(`${target.path}&limit=${pageSize}`, { key: target.key });
    const tookMs = performance.now() - sentMs;
    const isPage = answer.status === 200;
    if (isPage) assert.deepEqual(idsIn(answer.text), target.ids.slice(0, pageSize), target.owner);
    else assertUnavailable(answer);
    samples.push({ target, sentMs, tookMs, isPage, requestId: String(answer.headers['x-request-id']) });
  }

  const timer = setInterval(() => {
    const one = ask(targets[turn++ % targets.length]!).catch((thrown: Error) => {
      fault ??= thrown;
    });
    running.add(one);
    one.then(() => running.delete(one));
  }, 1_000 / perSecond).unref();

  /** Resolves to all answers. Fails if one of them was neither the right page nor a 503. */
  async function stop(): Promise<readonly Sample[]> {
    clearInterval(timer);
    await Promise.all(running);
    disconnect();
    assert.ifError(fault);
    return samples;
  }

  return {
    samples,
    stop,
    /** How long this process had to wait, though it has little to do. Its host delays others as long. */
    hostMs: () => delay.max / 1e6,
  };
}

export function idsIn(body: string): string[] {
  const { brands, balances } = JSON.parse(body);
  return (brands ?? balances).map(({ id }: { id: string }) => id);
}

export const longestMs = (samples: readonly Sample[]) =>
  Math.round(Math.max(...samples.map(({ tookMs }) => tookMs)));

/** The number of pages, and how long the answers took. */
export function summaryOf(samples: readonly Sample[]): string {
  const took = samples.map(({ tookMs }) => tookMs).toSorted((a, b) => a - b);
  const at = (share: number) => Math.round(took[Math.floor(took.length * share)]!);
  const pages = samples.filter(({ isPage }) => isPage).length;
  return (
    `${pages} of ${samples.length} answers are pages, half of them within ${at(0.5)} ms, ` +
    `99 % within ${at(0.99)} ms, all within ${longestMs(samples)} ms`
  );
}

/** Asserts that no request is refused that was sent 1 s after a node had returned. */
export function assertRecovered(t: TestContext, samples: readonly Sample[], backMs: number): void {
  const refused = samples.filter(({ isPage }) => !isPage).map(({ sentMs }) => sentMs - backMs);
  const lastMs = Math.round(Math.max(0, ...refused));
  t.diagnostic(`${summaryOf(samples)}; the last 503 was sent ${lastMs} ms after the return`);
  assert.ok(samples.some(({ sentMs }) => sentMs > backMs + 2_000) && lastMs < 1_000);
}

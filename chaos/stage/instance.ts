/** One instance of the service: a process on ports of its own, looked after as an init system does. */
import { openSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import type { Lifetime } from '../../packages/testkit/fixtures/lifetime.ts';
import { type Running, start as startCommand } from '../../packages/testkit/fixtures/run.ts';
import { freePort } from '../../packages/testkit/servers/free-port.ts';
import { now } from '../clock.ts';

/** Ended by somebody: how, and when it was no more. */
export interface Ending {
  readonly how: 'kill' | 'terminate' | 'by itself';
  readonly atMs: number;
}

export interface Instance {
  readonly name: string;
  readonly port: number;
  readonly operationsPort: number;
  readonly endings: readonly Ending[];
  /** Resolves when it is ready. One that cannot start, as without its database, is started again. */
  start(): Promise<void>;
  kill(): Promise<void>;
  /** SIGTERM, and until it has drained. */
  terminate(): Promise<void>;
  freeze(): void;
  thaw(): void;
  isReady(): Promise<boolean>;
  metrics(): Promise<string>;
}

const retryMs = 300;
const askMs = 50;

export async function createInstance(
  t: Lifetime,
  name: string,
  logPath: string,
  words: readonly string[],
): Promise<Instance> {
  const [port, operationsPort] = [await freePort(), await freePort()];
  const flags = ['--port', String(port), '--ops-port', String(operationsPort)];
  const log = openSync(logPath, 'a');
  const endings: Ending[] = [];
  let running: Running | undefined;
  let hasEnded = true;
  let isWanted = false;

  function launch(): void {
    hasEnded = false;
    const launched = startCommand(t, ['serve', ...words, ...flags], { stdout: log, stderr: log });
    running = launched;
    launched.ended.then(() => {
      hasEnded = true;
      if (isWanted) endings.push({ how: 'by itself', atMs: now() });
    });
  }

  async function start(): Promise<void> {
    isWanted = false;
    launch();
    while (!(await isReady())) {
      if (hasEnded) {
        await wait(retryMs);
        launch();
      }
      await wait(askMs);
    }
    isWanted = true;
  }

  async function end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    isWanted = false;
    if (running === undefined || hasEnded) return;
    running.signal(signal);
    await running.ended;
    endings.push({ how: signal === 'SIGKILL' ? 'kill' : 'terminate', atMs: now() });
  }

  const operations = (path: string) =>
    fetch(`http://127.0.0.1:${operationsPort}${path}`, { signal: AbortSignal.timeout(2_000) });
  const isReady = () =>
    operations('/readyz').then(
      ({ status }) => status === 200,
      () => false,
    );

  return {
    name,
    port,
    operationsPort,
    endings,
    start,
    kill: () => end('SIGKILL'),
    terminate: () => end('SIGTERM'),
    freeze: () => running!.signal('SIGSTOP'),
    thaw: () => running!.signal('SIGCONT'),
    isReady,
    metrics: async () => (await operations('/metrics')).text(),
  };
}

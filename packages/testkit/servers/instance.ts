/** An instance of a service on fixed ports, which can be killed, frozen and started again. */
import { openSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { type Lifetime, now } from '../fixtures/lifetime.ts';
import { type Running, start as startCommand } from '../fixtures/run.ts';
import { freePort } from './free-port.ts';

/** How and when the process ended. */
export interface Ending {
  readonly how: 'kill' | 'terminate' | 'by itself';
  readonly atMs: number;
}

const retryMs = 300;
const pollMs = 50;

/** Standard output and standard error go to the file `logPath`. */
export async function createInstance(
  t: Lifetime,
  name: string,
  logPath: string,
  words: readonly string[],
  command: 'serve' | 'admin' = 'serve',
) {
  const port = await freePort();
  const operationsPort = await freePort();
  const flags = ['--port', String(port), '--ops-port', String(operationsPort)];
  const log = openSync(logPath, 'a');
  const endings: Ending[] = [];
  let running: Running | undefined;
  let hasEnded = true;
  /** Whether it is expected to run: an end is then "by itself". */
  let isWanted = false;

  function launch(program: string | undefined): void {
    hasEnded = false;
    running = startCommand(t, [command, ...words, ...flags], {
      ...(program !== undefined && { program }),
      stdout: log,
      stderr: log,
    });
    running.ended.then(() => {
      hasEnded = true;
      if (isWanted) endings.push({ how: 'by itself', atMs: now() });
    });
  }

  /**
   * Resolves when it is ready. Starts it again if it cannot start, for example without its database. By
   * default it is of this version.
   */
  async function start(program?: string): Promise<void> {
    launch(program);
    while (!(await isReady())) {
      if (hasEnded) {
        await wait(retryMs);
        launch(program);
      }
      await wait(pollMs);
    }
    isWanted = true;
  }

  async function end(signal: 'SIGKILL' | 'SIGTERM'): Promise<number | null> {
    isWanted = false;
    if (running === undefined || hasEnded) return null;
    running.signal(signal);
    const status = await running.ended;
    endings.push({ how: signal === 'SIGKILL' ? 'kill' : 'terminate', atMs: now() });
    return status;
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
    /** Sends SIGTERM and resolves to the exit status after it has drained. */
    terminate: () => end('SIGTERM'),
    freeze: () => running!.signal('SIGSTOP'),
    thaw: () => running!.signal('SIGCONT'),
    isReady,
    metrics: async () => (await operations('/metrics')).text(),
  };
}

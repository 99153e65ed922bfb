/** Callers who go on calling on connections of their own, and note all that is not the right answer. */
import { Agent, request } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';

interface Call {
  readonly port: number;
  readonly path: string;
  readonly key: string;
  /** What must come back. */
  readonly text: string;
}

export interface Load {
  /** Stops calling, and resolves to what came of it when the last one is answered. */
  stop(): Promise<Totals>;
  totals(): Totals;
}

export interface Totals {
  readonly requests: number;
  readonly slowestMs: number;
  /** How often each kind of failure was met. */
  readonly failures: ReadonlyMap<string, number>;
}

/** So many callers, each on one connection that it keeps, together at so many requests a second. */
export function startLoad(call: Call, callers: number, perSecond: number): Load {
  const failures = new Map<string, number>();
  const pauseMs = (callers / perSecond) * 1_000;
  let requests = 0;
  let slowestMs = 0;
  let isStopped = false;

  async function goOn(number: number): Promise<void> {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    // They do not all begin at once.
    await wait((pauseMs * number) / callers);
    while (!isStopped) {
      const startedMs = performance.now();
      const failure = await callOnce(agent, call);
      const tookMs = performance.now() - startedMs;
      requests += 1;
      slowestMs = Math.max(slowestMs, tookMs);
      if (failure !== undefined) failures.set(failure, (failures.get(failure) ?? 0) + 1);
      await wait(Math.max(0, pauseMs - tookMs));
    }
    agent.destroy();
  }

  const all = Promise.all(Array.from({ length: callers }, (_, number) => goOn(number)));
  const totals = () => ({ requests, slowestMs, failures });
  return {
    totals,
    stop: async () => {
      isStopped = true;
      await all;
      return totals();
    },
  };
}

/** Resolves to what was wrong with the answer, if anything was. It is asked for once, and not again. */
function callOnce(agent: Agent, { port, path, key, text }: Call): Promise<string | undefined> {
  return new Promise((resolve) => {
    const headers = { Authorization: `Bearer ${key}` };
    const failed = (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message);
    request({ agent, host: '127.0.0.1', port, path, headers, timeout: 10_000 })
      .on('timeout', () => resolve('no answer within 10 s'))
      .on('error', failed)
      .on('response', (response) => {
        let received = '';
        response.setEncoding('utf8');
        response.on('error', failed);
        response.on('data', (chunk: string) => {
          received += chunk;
        });
        response.on('end', () => {
          const by = response.headers['x-answered-by'] ?? 'an instance';
          if (response.statusCode !== 200) resolve(`status ${response.statusCode} of ${by}`);
          else resolve(received === text ? undefined : 'another answer');
        });
      })
      .end();
  });
}

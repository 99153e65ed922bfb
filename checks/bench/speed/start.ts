/** Time from the start of `serve` to its first answer, compared with an empty Node program. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { executable } from '../../../packages/testkit/fixtures/run.ts';
import { freePort } from '../../../packages/testkit/servers/free-port.ts';
import { wholeRun } from '../../lib/program.ts';
import type { Request } from '../lib/connection.ts';
import { ask } from './ask.ts';

const retryMs = 1;
const mostRetries = 30_000;

async function timeNode(): Promise<number> {
  const startedMs = performance.now();
  await once(spawn(process.execPath, ['-e', '0'], { env: {}, stdio: 'ignore' }), 'exit');
  return performance.now() - startedMs;
}

async function timeServe(database: string, request: Request): Promise<number> {
  const [port, operations] = [await freePort(), await freePort()];
  const words = ['serve', '--database', database, '--port', String(port), '--ops-port', String(operations)];
  const startedMs = performance.now();
  const child = spawn(process.execPath, [executable, ...words], { env: {}, stdio: 'ignore' });
  const ended = once(child, 'exit');
  wholeRun.after(() => void child.kill('SIGKILL'));
  const status = await firstStatus(port, request);
  const tookMs = performance.now() - startedMs;
  if (status !== 200) throw new Error(`The first answer of serve was ${status}.`);
  // SIGINT skips the drain delay.
  child.kill('SIGINT');
  const [exitStatus] = await ended;
  if (exitStatus !== 0) throw new Error(`serve ended with status ${exitStatus}.`);
  return tookMs;
}

/** Retries while the connection is refused. */
async function firstStatus(port: number, request: Request): Promise<number> {
  for (let retries = 0; ; retries += 1) {
    try {
      return (await ask(port, request)).status;
    } catch (fault) {
      if (retries === mostRetries) throw fault;
      await wait(retryMs);
    }
  }
}

/** The first start does not count: when it ends, Node stores the compiled code that later starts use. */
export async function measureStart(database: string, request: Request, rounds: number) {
  const times = { serveMs: [] as number[], nodeMs: [] as number[] };
  for (let round = 0; round <= rounds; round += 1) {
    const [nodeMs, serveMs] = [await timeNode(), await timeServe(database, request)];
    if (round === 0) continue;
    times.nodeMs.push(nodeMs);
    times.serveMs.push(serveMs);
  }
  return times;
}

/** Starts other programs, which end with the bench. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { killAfter } from '../../../packages/testkit/fixtures/lifetime.ts';
import { wholeRun } from '../../lib/program.ts';

export interface Listener {
  readonly pid: number;
  readonly port: number;
}

/** Starts a Node program that prints its address as its first line when it listens. */
export async function startListener(words: readonly string[], variables = {}): Promise<Listener> {
  const child = spawn(process.execPath, words, {
    env: { NODE_ENV: 'production', ...variables },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = killAfter(wholeRun, child);
  const lines = createInterface({ input: child.stdout });
  const line = await Promise.race([once(lines, 'line'), ended.then(() => undefined)]);
  if (line === undefined) throw new Error(`${words[0]} ended before it listened.`);
  return { pid: child.pid!, port: Number(new URL(line[0]).port) };
}

/** Runs a program to its end and resolves to its output. */
export async function outputOf(program: string, words: readonly string[], variables = {}): Promise<string> {
  const child = spawn(program, words, {
    env: { ...process.env, ...variables },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  wholeRun.after(() => void child.kill('SIGKILL'));
  const [output, [status]] = await Promise.all([text(child.stdout), once(child, 'close')]);
  if (status !== 0) throw new Error(`${program} ended with status ${status}.`);
  return output;
}

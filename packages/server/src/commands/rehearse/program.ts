import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { commandLineBounds as bounds } from '../../bounds/command-line.ts';
import { OperatorError } from '../../lib/operator-error.ts';

/** The exit status if nothing could be judged. */
export const exitUntested = 3;

/** Runs a program to its end. An abort kills it with everything that it started. */
export async function runProgram(
  [file = '', ...words]: readonly string[],
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
) {
  const startedMs = performance.now();
  // Detached: a process group of its own, so that a shell's children are killed with it.
  const child = spawn(file, words, { env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  const streams = [child.stdout, child.stderr];
  let output = '';
  for (const stream of streams) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output = (output + text).slice(-bounds.keptOutputCharacters);
    });
  }
  const killGroup = () => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    } catch {
      // The whole group has ended.
    }
  };
  signal.addEventListener('abort', killGroup);
  child.once('exit', () => {
    // What it left in the background is not waited for. The rest of its output is.
    killGroup();
    setTimeout(() => streams.map((stream) => stream.destroy()), bounds.outputWaitMs).unref();
  });
  try {
    const [status, killedBy] = await once(child, 'close');
    const how = killedBy === null ? `exited with status ${status}` : `was ended by ${killedBy}`;
    const lines = output.trimEnd().split('\n').slice(-bounds.shownOutputLines).join('\n');
    const end = `the command ${how} and printed ${lines === '' ? 'nothing.' : `last:\n${lines}`}`;
    return { end, seconds: (performance.now() - startedMs) / 1_000 };
  } catch (error) {
    const reason = `${(error as Error).message}. Check its name, or give its path.`;
    throw new OperatorError(`Cannot start "${file}": ${reason}`, { exitStatus: exitUntested });
  } finally {
    signal.removeEventListener('abort', killGroup);
  }
}

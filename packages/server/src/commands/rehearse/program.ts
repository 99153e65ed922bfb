import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { commandLineBounds as bounds } from '../../bounds/command-line.ts';
import { OperatorError } from '../../lib/operator-error.ts';

/** How a program ended. */
export interface Ended {
  /** The end of a sentence: `exited with status 1`. */
  readonly how: string;
  readonly isLate: boolean;
  /** The last characters that it printed. */
  readonly output: string;
  readonly seconds: number;
}

/** The exit status if nothing could be judged. */
export const exitUntested = 3;

/** Runs a program to its end. A timeout or an abort kills it with everything that it started. */
export async function runProgram(
  [file = '', ...words]: readonly string[],
  env: NodeJS.ProcessEnv,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<Ended> {
  const startedMs = performance.now();
  // Detached: a process group of its own, so that a shell's children are killed with it.
  const child = spawn(file, words, { env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  const killGroup = () => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    } catch {
      // The whole group has ended.
    }
  };
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output = (output + text).slice(-bounds.keptOutputCharacters);
    });
  }
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    killGroup();
  }, timeoutMs);
  signal.addEventListener('abort', killGroup);
  try {
    // After a failed start, both reject.
    const closed = once(child, 'close').catch(() => {});
    const [status, killedBy] = await once(child, 'exit');
    // What it left in the background is not waited for. The rest of its output is.
    killGroup();
    await Promise.race([closed, wait(bounds.outputWaitMs)]);
    const how = killedBy === null ? `exited with status ${status}` : `was ended by ${killedBy}`;
    return { how, isLate, output: output.trimEnd(), seconds: (performance.now() - startedMs) / 1_000 };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const reasons: Readonly<Record<string, string>> = {
      ENOENT: 'there is no such program. Check its name, or give its path',
      EACCES: 'it is not executable. Run it with its interpreter, such as sh or node',
    };
    const reason = reasons[code ?? ''] ?? message;
    throw new OperatorError(`Cannot start "${file}": ${reason}.`, { exitStatus: exitUntested });
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', killGroup);
    child.stdout.destroy();
    child.stderr.destroy();
  }
}

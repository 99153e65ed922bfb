/** The real executable on a terminal, as a person sees it. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import type { TestContext } from 'node:test';
import { executable } from './run.ts';

/** What a test that needs a terminal is declared with; without one it is skipped, and says so. */
export const needsTerminal = {
  skip:
    spawnSync('script', ['--version']).status !== 0 &&
    'needs "script" of util-linux, which gives it a terminal',
};

interface Terminal {
  /** What was shown there so far, as lines. */
  shown(): string;
  /** Resolves to the exit status. */
  readonly ended: Promise<number>;
}

/** Runs a command on a terminal of so many columns. */
export function onTerminal(
  t: TestContext,
  columns: number,
  words: readonly string[],
  variables: Readonly<Record<string, string>> = {},
): Terminal {
  const command = [process.execPath, executable, ...words].map((word) => `'${word}'`).join(' ');
  const child = spawn('script', ['-qec', `stty cols ${columns}; exec ${command}`, '/dev/null'], {
    env: { PATH: process.env.PATH, TERM: 'xterm-256color', ...variables },
  });
  t.after(() => child.kill());
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (more) => (text += more));
  const ended = once(child, 'close').then(([status]) => status as number);
  return { shown: () => text.replaceAll('\r\n', '\n'), ended };
}

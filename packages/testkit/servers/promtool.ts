/** The tool of Prometheus, by which it is told whether it can read what is meant for it. */
import { spawnSync } from 'node:child_process';
import { programsOnPath } from './programs.ts';

const [program] = programsOnPath(['promtool']);

/** What a test that needs it is declared with; without it the test is skipped, and says so. */
export const needsPromtool = {
  skip: program === undefined && 'needs promtool (apt-get install prometheus, brew install prometheus)',
};

/** Its exit status, and all that it printed. */
export function promtool(words: readonly string[], input = ''): { status: number | null; said: string } {
  const { status, stdout, stderr } = spawnSync(program!, words, { input, encoding: 'utf8' });
  return { status, said: stdout + stderr };
}

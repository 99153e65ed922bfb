/** promtool checks whether Prometheus can read rules and metrics. */
import { spawnSync } from 'node:child_process';
import { programsOnPath } from './programs.ts';

const [program] = programsOnPath(['promtool']);

/** Options of a test with promtool: it is skipped if promtool is not installed. */
export const needsPromtool = {
  skip: program === undefined && 'needs promtool (apt-get install prometheus, brew install prometheus)',
};

/** Runs it; `said` is its whole output. */
export function promtool(words: readonly string[], input = ''): { status: number | null; said: string } {
  const { status, stdout, stderr } = spawnSync(program!, words, { input, encoding: 'utf8' });
  return { status, said: stdout + stderr };
}

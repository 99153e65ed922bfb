import { createInterface } from 'node:readline/promises';
import { ConclusiveError } from '../operator-error.ts';
import { flag } from './options.ts';

export const yes = flag('do not ask for confirmation');

/** Asks before a step that cannot be undone. Without a terminal there is nobody to ask: --yes is needed. */
export async function confirm(consequence: string, isConfirmed: boolean): Promise<void> {
  if (isConfirmed) return;
  if (!process.stdin.isTTY)
    throw new ConclusiveError(`${consequence} Nothing was changed: pass --yes to confirm it.`);
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  // Closed by Ctrl-C or Ctrl-D, which count as no.
  const closed = new Promise<string>((resolve) => void terminal.once('close', () => resolve('')));
  const answer = await Promise.race([terminal.question(`${consequence} Continue? [y/N] `), closed]);
  terminal.close();
  if (!/^y(es)?$/i.test(answer.trim())) throw new ConclusiveError('Nothing was changed.');
}

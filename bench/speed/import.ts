/** What `npm run bench:import` finds: it is a program of its own, with data and rounds of its own. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { wholeRun } from '../program.ts';

/** How much of the rate of an engine's bulk path an import has. */
export interface ImportShare {
  readonly name: string;
  readonly share: number;
}

const program = fileURLToPath(new URL('../import.ts', import.meta.url));

/** A round of it takes minutes. */
const mostRounds = 3;

/** Its report has a title for each engine and order of rows, and under it a line for each way. */
export function sharesIn(report: string): ImportShare[] {
  const found = report.matchAll(/^(\w+, \w+), [\d,]+ balances\n {2}bare .* the import has ([\d.]+)$/gm);
  return [...found].map(([, name, share]) => ({ name: name!, share: Number(share) }));
}

export async function measureImport(rounds: number): Promise<ImportShare[]> {
  const child = spawn(process.execPath, [program, '--rounds', String(Math.min(rounds, mostRounds))], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  wholeRun.after(() => void child.kill('SIGTERM'));
  const [report] = await Promise.all([text(child.stdout), once(child, 'close')]);
  const shares = sharesIn(report);
  // It ends with another status than 0 also when a goal is not met, which is said here as well.
  if (shares.length === 0) throw new Error('The bench of the import did not come to its end.');
  return shares;
}

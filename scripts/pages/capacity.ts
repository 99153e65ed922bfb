/** The page about capacity: the tables between its marks follow from a recorded measurement. */
import { readFileSync } from 'node:fs';
import { inputsFile, inputsTable, planTable } from '../../checks/bench/capacity/plan.ts';

const page = new URL('../../docs/how-to/operators/capacity.md', import.meta.url);

export function capacityPage(): string {
  const { inputs } = JSON.parse(readFileSync(inputsFile, 'utf8'));
  const tables = { plan: planTable(inputs), inputs: inputsTable(inputs) };
  return readFileSync(page, 'utf8').replaceAll(
    /<!-- (plan|inputs) -->\n.*?<!-- end -->/gs,
    (_, name: keyof typeof tables) => `<!-- ${name} -->\n\n${tables[name]}\n\n<!-- end -->`,
  );
}

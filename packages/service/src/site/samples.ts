/** The samples of an operation: files that a test runs. */
import { readFile } from 'node:fs/promises';
import type { ListingOperation } from '@partner-network/contract/operations';
import { root } from './guides.ts';
import type { Sample } from './operation.ts';

/** The label of a tab, its language in Markdown, and what the name of its file ends with. */
const kinds = [
  ['curl', 'sh', 'curl.sh'],
  ['JavaScript (client)', 'js', 'client.js'],
  ['JavaScript (fetch)', 'js', 'fetch.js'],
  ['Python (client)', 'python', 'client.py'],
  ['Python (standard library)', 'python', 'standard.py'],
  ['Java', 'java', 'java'],
  ['Go', 'go', 'go'],
] as const;

export function samplesFrom({ id }: ListingOperation): Promise<Sample[]> {
  const samples = kinds.map(async ([label, language, ending]) => {
    const source = await readFile(new URL(`docs/samples/${id}.${ending}`, root), 'utf8');
    return { label, language, source };
  });
  return Promise.all(samples);
}

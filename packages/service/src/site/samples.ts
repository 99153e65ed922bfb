/** The samples of an operation: files that a test runs. */
import { readFile } from 'node:fs/promises';
import { samplesOf } from '@partner-network/contract/openapi/listings';
import type { ListingOperation } from '@partner-network/contract/operations';
import { root } from './guides.ts';
import type { Sample } from './operation.ts';

/** What the name of a file ends with, the label of its tab, and its language in Markdown. */
const kinds = [
  ['curl.sh', 'curl', 'sh'],
  ['client.js', 'JavaScript (client)', 'js'],
  ['fetch.js', 'JavaScript (fetch)', 'js'],
  ['client.py', 'Python (client)', 'python'],
  ['standard.py', 'Python (standard library)', 'python'],
  ['java', 'Java', 'java'],
  ['go', 'Go', 'go'],
] as const;

export async function samplesFrom(operation: ListingOperation): Promise<Sample[]> {
  const files = kinds.map(async ([ending, label, language]) => {
    const file = new URL(`docs/samples/${operation.id}.${ending}`, root);
    const source = await readFile(file, 'utf8').catch(() => '');
    return { label, language, source };
  });
  const found = (await Promise.all(files)).filter(({ source }) => source !== '');
  if (found.length > 0) return found;
  return samplesOf(operation).map(({ label, source }) => ({ label, language: 'sh', source }));
}

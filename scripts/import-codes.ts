/** The table of codes in importing.md. `npm run docs` writes it; a test fails if it is out of date. */
import { readFileSync, writeFileSync } from 'node:fs';
import { importSentences } from '../packages/server/src/ingest/faults.ts';

export const importPagePath = new URL('../docs/operators/importing.md', import.meta.url);

const heading = '| code | what it says |\n|---|---|\n';

/** The current page with the current table. */
export function importPage(): string {
  const [text = ''] = readFileSync(importPagePath, 'utf8').split(heading);
  const rows = Object.entries(importSentences).map(([code, sentence]) => `| \`${code}\` | ${sentence} |\n`);
  return `${text}${heading}${rows.join('')}`;
}

if (import.meta.main) writeFileSync(importPagePath, importPage());

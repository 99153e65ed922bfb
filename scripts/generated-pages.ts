/** Pages generated from the sources. `npm run docs` writes them; a test fails if a page is out of date. */
import { readFileSync, writeFileSync } from 'node:fs';
import { STATUS_CODES } from 'node:http';
import { type ErrorCode, errorCatalogue, retryableStatuses } from '@partner-network/contract/errors';
import { brandsPerSecond } from '@partner-network/contract/limits';
import { exampleOf } from '@partner-network/contract/openapi/responses';
import { listBalances } from '@partner-network/contract/operations';
import { importSentences } from '../packages/server/src/ingest/faults.ts';
import { openApiFile, openApiText } from './openapi.ts';

const errorPath = new URL('../docs/reference/partners/error-catalogue.md', import.meta.url);
const importPath = new URL('../docs/how-to/operators/import.md', import.meta.url);

const introduction = `# Error catalogue

Every code that an answer can have, by status: its category, when you get it, and what to do, in the
words of the answer's \`detail\`. Where they depend on the request, they are an example. How a program
handles them is in [Errors](errors.md).
`;

const setting = {
  environment: 'production',
  publicUrl: '',
  listing: 'brands',
  rate: brandsPerSecond,
} as const;

function errorPage(): string {
  const codes = Object.keys(errorCatalogue) as ErrorCode[];
  const statuses = [...new Set(codes.map((code) => errorCatalogue[code].status))].sort((a, b) => a - b);
  const sections = statuses.map((status) => {
    const repeat = retryableStatuses.includes(status) ? 'Try again' : 'Trying again unchanged does not help';
    const entries = codes.filter((code) => errorCatalogue[code].status === status).map(entryOf);
    return `## ${status} ${STATUS_CODES[status]}\n\n${repeat}.\n\n${entries.join('\n')}`;
  });
  return [introduction, ...sections].join('\n');
}

function entryOf(code: ErrorCode): string {
  const { category, when } = errorCatalogue[code];
  // This operation can return every code.
  const remedy = exampleOf(listBalances, code, setting).detail.replace(/"([^"]*)"/, '`$1`');
  return `### \`${code}\`\n\n\`${category}\`. ${when}\n\n**What to do.** ${remedy}\n`;
}

/** The current text of importing.md with the current table of codes at its end. */
function importPage(): string {
  const heading = '| code | what it says |\n|---|---|\n';
  const [text = ''] = readFileSync(importPath, 'utf8').split(heading);
  const rows = Object.entries(importSentences).map(([code, sentence]) => `| \`${code}\` | ${sentence} |\n`);
  return `${text}${heading}${rows.join('')}`;
}

export const generatedPages: readonly { readonly path: URL; text(): string }[] = [
  { path: errorPath, text: errorPage },
  { path: importPath, text: importPage },
  { path: openApiFile, text: openApiText },
];

if (import.meta.main) for (const { path, text } of generatedPages) writeFileSync(path, text());

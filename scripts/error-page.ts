/** docs/errors.md, made from the catalogue. `npm run docs` writes it; a test fails when it is out of date. */
import { writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { errorCatalogue } from '@partner-network/contract/errors';

export const errorPagePath = new URL('../docs/errors.md', import.meta.url);

export function errorPage(): string {
  const entries = Object.entries(errorCatalogue).sort(([, left], [, right]) => left.status - right.status);
  const rows = entries.map(
    ([code, { status, category, when, detail }]) =>
      `| ${status} | \`${code}\` | \`${category}\` | ${when} | ${detail.replace(/[<>]/g, (c) => `\\${c}`)} |`,
  );
  return `# Errors

Every answer that is not a 2xx has a body of one shape, \`{"errors": [...]}\`, with at least one error in it.
Each has a \`category\`, a \`code\` for your program, a \`detail\` for whoever reads it, and, where one
parameter is to blame, the \`field\`. A HEAD request gets the headers alone.

Everything that is wrong with the parameters is reported at once, one error per parameter, in the order of
their tables; parameters that do not exist come last. A request is judged in this order: path, method,
credentials, scope, rate limit, parameters, grant. One that fails early learns nothing of what comes later.
What belongs to another partner and what does not exist get the same answer, byte for byte.

Retry 408, 429, 500 and 503, after the time in \`Retry-After-Ms\` or \`Retry-After\` where there is one.
Retrying anything else unchanged does not help.

| status | code | category | when | what it says |
|---|---|---|---|---|
${rows.join('\n')}
`;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) writeFileSync(errorPagePath, errorPage());

/** The catalogue of errors as a page. `npm run docs` writes it; a test fails when it is out of date. */
import { writeFileSync } from 'node:fs';
import { STATUS_CODES } from 'node:http';
import { pathToFileURL } from 'node:url';
import { type ErrorCode, errorCatalogue, errorRecord } from '@partner-network/contract/errors';

export const errorPagePath = new URL('../docs/partners/error-catalogue.md', import.meta.url);

type ExampleFacts = Readonly<Record<string, string | number>> & { readonly field?: string };

/** What an answer's sentence speaks of, for an example of it. */
const exampleFacts: Partial<Record<ErrorCode, ExampleFacts>> = {
  MISSING_REQUIRED_PARAMETER: { field: 'customer_id' },
  VALUE_EMPTY: { field: 'reference_id', remedy: 'give it a value or leave it out' },
  VALUE_TOO_LONG: { field: 'customer_id', max: 128 },
  INVALID_ENUM_VALUE: { field: 'type', allowed: 'CHECKING' },
  EXPECTED_INTEGER: { field: 'limit', min: 1, max: 100 },
  VALUE_TOO_LOW: { field: 'limit', min: 1 },
  VALUE_TOO_HIGH: { field: 'limit', max: 100 },
  CONFLICTING_PARAMETERS: { field: 'limit' },
  UNKNOWN_QUERY_PARAMETER: { name: 'refrence_id', nearest: 'reference_id' },
  INVALID_CHARACTER: { field: 'reference_id' },
  API_KEY_ENVIRONMENT_MISMATCH: { environment: 'sandbox', prefix: 'pn_test_' },
  INSUFFICIENT_SCOPES: { scope: 'BALANCES_READ' },
  RATE_LIMITED: { rate: 50 },
  INTERNAL_SERVER_ERROR: { requestId: 'e0d9e2c3-dc83-4be8-bc22-dcb1749e9eb4' },
};

const introduction = `# Error catalogue

Every code that an answer can have, by status: its category, when you get it, and what to do, in the
words of the answer's \`detail\`. Where they depend on the request, they are an example. How a program
handles them is in [Errors](errors.md).
`;

/** Which of them it helps to send again unchanged. */
const isWorthRepeating = (status: number) => [408, 429, 500, 503].includes(status);

export function errorPage(): string {
  const codes = Object.keys(errorCatalogue) as ErrorCode[];
  const statuses = [...new Set(codes.map((code) => errorCatalogue[code].status))].sort((a, b) => a - b);
  const sections = statuses.map((status) => {
    const repeat = isWorthRepeating(status) ? 'Try again' : 'Trying again unchanged does not help';
    const entries = codes.filter((code) => errorCatalogue[code].status === status).map(entryOf);
    return `## ${status} ${STATUS_CODES[status]}\n\n${repeat}.\n\n${entries.join('\n')}`;
  });
  return [introduction, ...sections].join('\n');
}

function entryOf(code: ErrorCode): string {
  const { category, when } = errorCatalogue[code];
  const { field, ...facts } = exampleFacts[code] ?? {};
  const { detail } = errorRecord(code, facts, field);
  const remedy = detail.replace(/"([^"]*)"/, '`$1`');
  return `### \`${code}\`\n\n\`${category}\`. ${when}\n\n**What to do.** ${remedy}\n`;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) writeFileSync(errorPagePath, errorPage());

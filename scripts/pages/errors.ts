import { STATUS_CODES } from 'node:http';
import { type ErrorCode, errorCatalogue, retryableStatuses } from '@partner-network/contract/errors';
import { brandsPerSecond } from '@partner-network/contract/limits';
import { exampleOf } from '@partner-network/contract/openapi/responses';
import { listBalances } from '@partner-network/contract/operations';
import { code, paragraph } from './markdown.ts';

const introduction = `# Error catalogue

Every error code, by the status of its response. Each entry has the category, the condition and the
\`detail\` that the response has. If a \`detail\` depends on the request, an example is shown.
"Us" in a \`detail\` is the operator of the service.
[Errors](../../how-to/partners/errors.md) shows how a program handles errors.
`;

const setting = {
  environment: 'production',
  publicUrl: '',
  listing: 'brands',
  rate: brandsPerSecond,
} as const;

export function errorsPage(): string {
  const codes = Object.keys(errorCatalogue) as ErrorCode[];
  const statuses = [...new Set(codes.map((each) => errorCatalogue[each].status))].sort((a, b) => a - b);
  const sections = statuses.map((status) => {
    const retry = retryableStatuses.includes(status)
      ? 'You can retry the same request.'
      : 'Retrying the same request does not help.';
    const entries = codes.filter((each) => errorCatalogue[each].status === status).map(entryOf);
    return `## ${status} ${STATUS_CODES[status]}\n\n${retry}\n\n${entries.join('\n')}`;
  });
  return [introduction, ...sections].join('\n');
}

function entryOf(errorCode: ErrorCode): string {
  const { category, when } = errorCatalogue[errorCode];
  // This operation can return every code.
  const detail = exampleOf(listBalances, errorCode, setting).detail.replace(/"([^"]*)"/, '`$1`');
  const [condition, remedy] = [`Category ${code(category)}. ${when}`, `**What to do:** ${detail}`];
  return `### ${code(errorCode)}\n\n${paragraph(condition)}\n${paragraph(remedy)}`;
}

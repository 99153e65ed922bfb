import { STATUS_CODES } from 'node:http';
import { type ErrorCode, errorCatalogue, retryableStatuses } from '@partner-network/contract/errors';
import { brandsPerSecond } from '@partner-network/contract/limits';
import { exampleOf } from '@partner-network/contract/openapi/responses';
import { listBalances } from '@partner-network/contract/operations';
import { code, table, withCode } from './markdown.ts';

const introduction = `# Error catalogue

Every error code, by the status of its response. The \`detail\` says what to do. Where it depends on
the request, the table has an example.
[Errors](../../how-to/partners/errors.md) shows how a program handles errors.
`;

const setting = {
  environment: 'production',
  publicUrl: '',
  listing: 'brands',
  rate: brandsPerSecond,
} as const;

const headings = ['Code', 'Condition', 'Example `detail`'];

export function errorsPage(): string {
  const codes = Object.keys(errorCatalogue) as ErrorCode[];
  const statuses = [...new Set(codes.map((each) => errorCatalogue[each].status))].sort((a, b) => a - b);
  const sections = statuses.map((status) => {
    const retry = retryableStatuses.includes(status)
      ? 'You can retry the same request.'
      : 'Retrying the same request does not help.';
    const given = codes.filter((each) => errorCatalogue[each].status === status);
    // The category is above the table: a phone has no room for a fourth column.
    const tables = Map.groupBy(given, (each) => errorCatalogue[each].category)
      .entries()
      .map(([category, group]) => `Category ${code(category)}:\n\n${table(headings, group.map(rowOf))}`);
    return `## ${status} ${STATUS_CODES[status]}\n\n${retry}\n\n${[...tables].join('\n')}`;
  });
  return [introduction, ...sections].join('\n');
}

function rowOf(errorCode: ErrorCode): string[] {
  // This operation can return every code.
  const { detail } = exampleOf(listBalances, errorCode, setting);
  // Long words become code, which a narrow column breaks.
  const shown = withCode(detail).replace(/"([^"]*)"|([0-9a-f-]{36})/, (_, quoted, id) => code(quoted ?? id));
  return [code(errorCode), errorCatalogue[errorCode].when, shown];
}

import { STATUS_CODES } from 'node:http';
import { type ErrorCode, errorCatalogue, retryableStatuses } from '@partner-network/contract/errors';
import { brandsPerSecond } from '@partner-network/contract/limits';
import { exampleOf } from '@partner-network/contract/openapi/responses';
import { listBalances } from '@partner-network/contract/operations';
import { code, withCode } from './markdown.ts';

const introduction = `# Error catalogue

Every error code, by the status of its response: when you get it, and what to do. The \`detail\` of a
response says what to do, too. [Errors](../../how-to/partners/errors.md) shows how a program handles
errors, and [Sandbox](sandbox.md#see-every-error) how to see each of them.
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
    const given = codes.filter((each) => errorCatalogue[each].status === status).map(sectionOf);
    return `## ${status} ${STATUS_CODES[status]}\n\n${retry}\n\n${given.join('\n')}`;
  });
  return [introduction, ...sections].join('\n');
}

function sectionOf(errorCode: ErrorCode): string {
  // This operation can return every code.
  const { category, detail } = exampleOf(listBalances, errorCode, setting);
  const { when } = errorCatalogue[errorCode];
  const more = seeAlso.find(([codes]) => codes.test(errorCode))?.[1];
  // Long words become code, which a narrow column breaks.
  const shown = withCode(detail).replace(/"([^"]*)"|([0-9a-f-]{36})/, (_, quoted, id) => code(quoted ?? id));
  const parts = [
    `${when} Category: ${code(category)}.`,
    `**What to do${errorCatalogue[errorCode].detail.includes('{') ? ', for example' : ''}:** ${shown}${more === undefined ? '' : ` See ${more}.`}`,
  ];
  return [`### ${code(errorCode)}`, ...parts.map(wrapped)].join('\n\n').concat('\n');
}

/** A paragraph in lines of at most 100 columns. */
function wrapped(paragraph: string): string {
  return paragraph.split(' ').reduce((text, word) => {
    const last = text.slice(text.lastIndexOf('\n') + 1);
    return `${text}${last.length + word.length < 100 ? ' ' : '\n'}${word}`;
  });
}

/** Guides that say more about some codes. */
const seeAlso: readonly (readonly [RegExp, string])[] = [
  [
    /CURSOR/,
    '[Start again after an expired cursor](../../how-to/partners/pagination.md#start-again-after-an-expired-cursor)',
  ],
  [/^(UNAUTHORIZED|API_KEY)/, '[Test a key](../../how-to/partners/keys.md#test-a-key)'],
  [/^GRANT/, '[Grants](balances.md#grants)'],
  [/SCOPES/, '[Scopes](environments-and-scopes.md#scopes)'],
  [/RATE_LIMITED/, '[Handle a 429](../../how-to/partners/rate-limits.md#handle-a-429)'],
  [
    /^(INTERNAL|SERVICE|REQUEST_TIMEOUT)/,
    '[Retry a request](../../how-to/partners/errors.md#retry-a-request)',
  ],
];

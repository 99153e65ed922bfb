/** The page of the error catalogue. The advice fits every request: a `detail` fits only its own. */
import { STATUS_CODES } from 'node:http';
import { keyPrefixes } from '@partner-network/contract/environments';
import { type ErrorCode, errorCatalogue, retryableStatuses } from '@partner-network/contract/errors';
import { cursorLifetimeHours, pageSize } from '@partner-network/contract/limits';
import { code } from './markdown.ts';

const introduction = `# Error catalogue

Every error code, by the status of its response: when you get it, what to check, and what to do.
The \`detail\` of a response says it for your request. [Errors](../../how-to/partners/errors.md) shows
how a program handles errors, and [Sandbox](sandbox.md#see-every-error) how to see each of them. On
every service, \`/docs/errors/CODE\` leads to the section of a code, and \`/docs/errors/CODE.md\` is
this section as Markdown, for programs.
`;

export function errorsPage(): string {
  const codes = Object.keys(errorCatalogue) as ErrorCode[];
  const statuses = [...new Set(codes.map((each) => errorCatalogue[each].status))].sort((a, b) => a - b);
  const sections = statuses.map((status) => {
    const given = codes.filter((each) => errorCatalogue[each].status === status).map(sectionOf);
    return `## ${status} ${STATUS_CODES[status]}\n\n${given.join('\n')}`;
  });
  return [introduction, ...sections].join('\n');
}

function sectionOf(errorCode: ErrorCode): string {
  const { status, category, when } = errorCatalogue[errorCode];
  const retry = retryableStatuses.includes(status)
    ? 'You can retry the same request.'
    : 'Retrying the same request does not help.';
  const parts = [
    when,
    `**What to do:** ${advice[errorCode]}`,
    `Status: ${status}. Category: ${code(category)}. ${retry}`,
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

const parameters = 'The pages about [brands](brands.md) and [balances](balances.md) list all parameters.';
const grants = 'See [Grants](balances.md#grants).';
const retries = 'See [Retry a request](../../how-to/partners/errors.md#retry-a-request).';
const testKey = 'See [Test a key](../../how-to/partners/keys.md#test-a-key).';
const newGrant =
  'Ask the customer for a new grant. If you have another active grant from the customer, send its id, or ' +
  `leave \`grant_id\` out. ${grants}`;

/** What to check and to do. */
const advice: Readonly<Record<ErrorCode, string>> = {
  MISSING_REQUIRED_PARAMETER: `Add the parameter that \`field\` names. ${parameters}`,
  VALUE_EMPTY:
    'Check that the variable behind the value is set. Leave an optional parameter without a value out. If ' +
    '`field` is `cursor`, stop after a page without a cursor, or leave `cursor` out to start again.',
  VALUE_TOO_LONG: `Check that it is one value, and shorten it to the length in \`detail\`. ${parameters}`,
  INVALID_ENUM_VALUE: `Send a value that \`detail\` names, in the same case. ${parameters}`,
  EXPECTED_INTEGER:
    'Write the number in plain digits, such as `limit=50`: without a decimal point, plus sign, exponent, ' +
    'space or leading zero.',
  VALUE_TOO_LOW:
    `Send a \`limit\` of at least ${pageSize.min}, or leave it out to get up to ` +
    `${pageSize.default} records.`,
  VALUE_TOO_HIGH:
    `Send a \`limit\` of at most ${pageSize.max}, and get further records with the cursor. See ` +
    '[Pagination](../../how-to/partners/pagination.md).',
  CONFLICTING_PARAMETERS:
    'Send each parameter once. Check whether your program adds a parameter to an address that has it ' +
    'already.',
  UNKNOWN_QUERY_PARAMETER:
    'Remove the parameter that `field` names, or correct its name: case matters. `detail` suggests a name ' +
    `that is close to it. ${parameters}`,
  INVALID_CHARACTER:
    'Percent-encode the value as UTF-8 with a function of your language, such as `encodeURIComponent` in ' +
    'JavaScript or `urllib.parse.quote` in Python. Check for control characters, such as a line break at ' +
    'the end.',
  INVALID_CURSOR:
    'Start again without a cursor, and check that your program sends each cursor back unchanged, with the ' +
    `same other parameters, for the same partner, within ${cursorLifetimeHours} hours. See [Start again ` +
    'after an expired cursor](../../how-to/partners/pagination.md#start-again-after-an-expired-cursor).',
  MALFORMED_REQUEST:
    'Send a valid HTTP/1.1 request with exactly one `Host` header. Use an HTTP library, and check the ' +
    'proxies between you and the service.',
  UNAUTHORIZED:
    'Send exactly one header `Authorization: Bearer <key>`. Check that the variable with the key is set, ' +
    `and that the key is complete, without quotation marks, spaces or a line break around it. ${testKey}`,
  API_KEY_REVOKED:
    'Use another key, or ask the operator of the service for a new one: this key does not work again. ' +
    `Check which of your programs still send it. ${testKey}`,
  API_KEY_EXPIRED:
    'Use another key, or ask the operator of the service for a new one: this key does not work again. See ' +
    '[Change a key without a gap](../../how-to/partners/keys.md#change-a-key-without-a-gap).',
  API_KEY_ENVIRONMENT_MISMATCH:
    'Check the base URL and the key: they belong to different environments. Keys of production begin with ' +
    `\`${keyPrefixes.production}\`, keys of a sandbox with \`${keyPrefixes.sandbox}\`, and \`detail\` ` +
    'names the environment that answered. See [Environments](environments-and-scopes.md#environments).',
  PARTNER_DISABLED:
    'Ask the operator of the service to enable the access of your organization again. Until then, all your ' +
    'keys get this error.',
  INSUFFICIENT_SCOPES:
    'Use a key with the scope that `detail` names, or ask the operator of the service for one. See ' +
    '[Scopes](environments-and-scopes.md#scopes).',
  GRANT_NOT_FOUND:
    'Check `customer_id` and `grant_id`: the grant must be from this customer to you. Leave `grant_id` out ' +
    `to use any active grant. If this fails too, ask the customer for a new grant. ${grants}`,
  GRANT_EXPIRED: newGrant,
  GRANT_REVOKED: newGrant,
  GRANT_CONSUMED: newGrant,
  NOT_FOUND:
    'Check the base URL, which ends in `/network/v1`, and the path after it: `/brands` or `/balances`, in ' +
    'lower case and without a slash at the end.',
  METHOD_NOT_ALLOWED: 'Use GET: the API is read-only. HEAD gets the headers alone.',
  REQUEST_TIMEOUT: `Send the complete request again on a new connection, all at once. ${retries}`,
  RATE_LIMITED:
    'Wait for the time in `Retry-After-Ms`, then retry. `RateLimit-Policy` has your limit, which all your ' +
    'keys share. See [Handle a 429](../../how-to/partners/rate-limits.md#handle-a-429).',
  REQUEST_TOO_LARGE:
    'Shorten the request line and headers to 16 KiB in total, with at most 200 headers. Check which ' +
    'headers and cookies your HTTP library or a proxy adds.',
  INTERNAL_SERVER_ERROR:
    'Retry. If the error persists, report the request id, which is in `detail` and in the header ' +
    `\`X-Request-Id\`. ${retries}`,
  SERVICE_UNAVAILABLE:
    'Retry after the seconds in `Retry-After`. The service may be overloaded, so do not open more ' +
    `connections. ${retries}`,
};

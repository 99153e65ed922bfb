/** The responses to partners: their headers, and every code of the catalogue under its status. */
import { type Environment, keyPrefixes } from '../environments.ts';
import { type ErrorCode, type ErrorRecord, errorCatalogue, errorRecord } from '../errors.ts';
import {
  allowedMethods,
  factsOf,
  type ListingName,
  type ListingOperation,
  type Parameter,
  renamingTo,
} from '../operations.ts';
import { type ApiRefusal, type ApiResponse, ref } from './document.ts';
import { listingTexts } from './listings.ts';

/** A service that serves the document. */
export interface Place {
  readonly environment: Environment;
  readonly publicUrl: string;
}

/** How it is set up, for examples that are true of it. */
export interface Setting extends Place {
  /** A listing that is limited, and its requests per second, for the examples of headers and of the 429. */
  readonly listing: ListingName;
  readonly rate: number;
}

const exampleRequestId = '0b4e7a52-6c1d-4f39-9a80-2d5e8c7f1b36';

function header(description: string, required: boolean, schema: object): object {
  return { description, required, schema };
}

const text = { type: 'string', maxLength: 64 };
const wait = (description: string, maximum: number, example: number) =>
  header(description, true, { type: 'integer', format: 'int32', minimum: 1, maximum, examples: [example] });

export const requestIdHeader = header(
  'Identifier of this response. Include it when you report a problem.',
  true,
  { ...text, format: 'uuid', examples: [exampleRequestId] },
);
export const retryAfterHeader = wait('Seconds to wait before a retry.', 3_600, 1);

export const headersIn = ({ listing, rate }: Setting) => ({
  'X-Request-Id': requestIdHeader,
  'RateLimit-Policy': header(
    'The rate limit: `q` requests in any `w` seconds. It is absent if no limit is set.',
    false,
    { ...text, pattern: '^"[a-z]+";q=\\d+;w=\\d+$', examples: [`"${listing}";q=${rate};w=1`] },
  ),
  RateLimit: header(
    'You can send `r` requests now, and more in `t` seconds. It is absent if no limit is set.',
    false,
    { ...text, pattern: '^"[a-z]+";r=\\d+;t=\\d+$', examples: [`"${listing}";r=${rate - 1};t=1`] },
  ),
  'WWW-Authenticate': header('The authentication scheme.', true, {
    ...text,
    pattern: '^Bearer$',
    examples: ['Bearer'],
  }),
  'Retry-After': retryAfterHeader,
  'Retry-After-Ms': wait('Milliseconds to wait before a retry.', 3_600_000, 137),
});

/** On responses after the rate limit. These include a 403 about a grant, but not a 403 about a scope. */
const limited = ['RateLimit-Policy', 'RateLimit'];

interface StatusMeaning {
  readonly name: string;
  readonly description: string;
  /** Besides X-Request-Id. Headers that are the same on all responses are left out: generators make types. */
  readonly headers?: readonly string[];
}

const meanings: Readonly<Record<number, StatusMeaning>> = {
  400: {
    name: 'InvalidRequest',
    description:
      'The request is invalid. The response has one error for each invalid parameter. Correct the request ' +
      'as the errors say. The same request fails again.',
    headers: limited,
  },
  401: {
    name: 'Unauthorized',
    description: 'The credentials are missing or invalid. Send a valid API key.',
    headers: ['WWW-Authenticate'],
  },
  403: {
    name: 'Forbidden',
    description:
      'The API key is valid, but does not allow this request. A record of another partner gets the same ' +
      'response as a record that does not exist.',
  },
  404: { name: 'NotFound', description: errorCatalogue.NOT_FOUND.when },
  405: {
    name: 'MethodNotAllowed',
    description: `The method is not one of ${allowedMethods.join(', ')}.`,
  },
  408: {
    name: 'RequestTimeout',
    description: 'The request did not arrive in time. The connection is closed. Retry on a new connection.',
  },
  429: {
    name: 'RateLimited',
    description:
      'The partner sent more requests in one second than the limit allows. Wait for the time in ' +
      '`Retry-After-Ms`, then retry. A refused request does not count against the limit.',
    headers: [...limited, 'Retry-After', 'Retry-After-Ms'],
  },
  431: { name: 'RequestTooLarge', description: errorCatalogue.REQUEST_TOO_LARGE.when },
  500: {
    name: 'ServerError',
    description:
      'The service failed. Retry, and wait longer before each attempt. If the error persists, report the ' +
      'request id.',
    headers: limited,
  },
  503: {
    name: 'Unavailable',
    description: 'The service is temporarily unavailable. Retry after the seconds in `Retry-After`.',
    headers: [...limited, 'Retry-After'],
  },
};

type Fits = (parameter: Parameter) => boolean;

const isText: Fits = ({ isBoundToCursor, schema }) => isBoundToCursor !== false && !('enum' in schema);

/** The parameter of a code's example, by name or condition. An operation without it never gives the code. */
const culprits: Partial<Record<ErrorCode, string | Fits>> = {
  MISSING_REQUIRED_PARAMETER: ({ required }) => required,
  VALUE_EMPTY: 'cursor',
  VALUE_TOO_LONG: isText,
  INVALID_ENUM_VALUE: ({ schema }) => 'enum' in schema,
  EXPECTED_INTEGER: 'limit',
  VALUE_TOO_LOW: 'limit',
  VALUE_TOO_HIGH: 'limit',
  CONFLICTING_PARAMETERS: 'limit',
  UNKNOWN_QUERY_PARAMETER: isText,
  INVALID_CHARACTER: isText,
  INVALID_CURSOR: 'cursor',
  GRANT_NOT_FOUND: 'grant_id',
  GRANT_EXPIRED: 'grant_id',
  GRANT_REVOKED: 'grant_id',
  GRANT_CONSUMED: 'grant_id',
};

function culpritOf({ parameters }: ListingOperation, code: ErrorCode): [string, Parameter] | undefined {
  const wanted = culprits[code];
  return Object.entries(parameters).find(([name, parameter]) =>
    typeof wanted === 'function' ? wanted(parameter) : name === wanted,
  );
}

/** The error that an operation gives for a code, with its sentence filled in. */
export function exampleOf(
  operation: ListingOperation,
  code: ErrorCode,
  setting: Pick<Setting, 'environment' | 'rate'>,
): ErrorRecord {
  const [name, parameter] = culpritOf(operation, code) ?? [];
  if (name === undefined || parameter === undefined) {
    const { environment, rate } = setting;
    const { permission: scope } = operation;
    const prefix = keyPrefixes[environment];
    return errorRecord(code, { environment, prefix, scope, rate, requestId: exampleRequestId });
  }
  if (code !== 'UNKNOWN_QUERY_PARAMETER') return errorRecord(code, factsOf(parameter), name);
  const misspelt = name.replace('_i', 'I');
  return errorRecord(code, { name: misspelt, renaming: renamingTo(name) }, misspelt);
}

/** The codes of the example with several errors. */
const together: readonly ErrorCode[] = [
  'MISSING_REQUIRED_PARAMETER',
  'VALUE_TOO_HIGH',
  'UNKNOWN_QUERY_PARAMETER',
];

function examplesOf(operation: ListingOperation, codes: readonly ErrorCode[], setting: Setting) {
  const showing = (summary: string, shown: readonly ErrorCode[]) => ({
    summary,
    value: { errors: shown.map((code) => exampleOf(operation, code, setting)) },
  });
  const several = together.filter((code) => codes.includes(code));
  return {
    // First, because a mock answers with the first example.
    ...(several.length > 0 && {
      'several-at-once': showing('One error for each invalid parameter.', several),
    }),
    ...Object.fromEntries(codes.map((code) => [code, showing(errorCatalogue[code].when, [code])])),
  };
}

/** The statuses whose examples differ between operations. The other responses are shared. */
const ownStatuses = [400, 403];

export function refusalOf(operation: ListingOperation, status: number, setting: Setting): ApiRefusal {
  const { name, description, headers = [] } = meanings[status]!;
  const codes = (Object.keys(errorCatalogue) as ErrorCode[])
    .filter((code) => errorCatalogue[code].status === status)
    .filter((code) => !(code in culprits) || culpritOf(operation, code) !== undefined);
  const rates = codes.includes('GRANT_NOT_FOUND') ? limited : [];
  return {
    name: ownStatuses.includes(status) ? operation.tag + name : name,
    description,
    headers: ['X-Request-Id', ...headers, ...rates],
    schema: ref('schemas', 'ErrorBody'),
    codes,
    examples: examplesOf(operation, codes, setting),
  };
}

export function pageOf({ name, tag }: ListingOperation, { publicUrl }: Setting): ApiResponse {
  return {
    description: `A page of ${name}. If it has a cursor, send it back to get the next page.`,
    headers: ['X-Request-Id', ...limited],
    schema: ref('schemas', `${tag}Page`),
    examples: listingTexts[name].pages(publicUrl),
  };
}

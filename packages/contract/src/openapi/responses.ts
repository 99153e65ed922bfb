/** The responses: their headers, and every code of the catalogue under its status. */
import { type Environment, keyPrefixes } from '../environments.ts';
import { type ErrorCode, type ErrorRecord, errorCatalogue, errorRecord } from '../errors.ts';
import { allowedMethods, factsOf, type ListingName, type Operation, type Parameter } from '../operations.ts';
import { capitalized } from '../sentence.ts';
import { listingTexts } from './listings.ts';

export interface Place {
  readonly environment: Environment;
  readonly publicUrl: string;
}

/** How a service is set up, for examples that are true of it. */
export interface Setting extends Place {
  /** A listing that is limited, and its requests per second, for the examples of headers and of the 429. */
  readonly listing: ListingName;
  readonly rate: number;
}

const exampleRequestId = '0b4e7a52-6c1d-4f39-9a80-2d5e8c7f1b36';

function header(description: string, required: boolean, schema: object): object {
  return { description, required, schema };
}

const always = (description: string, value: string) =>
  header(description, true, { type: 'string', enum: [value] });
const text = { type: 'string', maxLength: 64 };
const wait = (description: string, maximum: number, example: number) =>
  header(description, true, { type: 'integer', format: 'int32', minimum: 1, maximum, examples: [example] });

export const headersIn = ({ listing, rate }: Setting) => ({
  'X-Request-Id': header('Names this answer. Give it to us when you report a problem.', true, {
    ...text,
    format: 'uuid',
    examples: [exampleRequestId],
  }),
  'X-Content-Type-Options': always('The content is what its type says.', 'nosniff'),
  'Cache-Control': always('Answers are not to be stored by caches.', 'no-store'),
  'RateLimit-Policy': header(
    'The limit: `q` requests of a partner, all its keys together, in any `w` seconds. Absent where none is set.',
    false,
    { ...text, pattern: '^"[a-z]+";q=\\d+;w=\\d+$', examples: [`"${listing}";q=${rate};w=1`] },
  ),
  RateLimit: header(
    'What is left of it: `r` requests now, and more in `t` seconds. Absent where no limit is set.',
    false,
    { ...text, pattern: '^"[a-z]+";r=\\d+;t=\\d+$', examples: [`"${listing}";r=${rate - 1};t=1`] },
  ),
  'Retry-After': wait('Whole seconds to wait before the next attempt.', 3_600, 1),
  'Retry-After-Ms': wait('The same wait, exactly: milliseconds.', 3_600_000, 137),
  'WWW-Authenticate': always('The scheme of the credentials.', 'Bearer'),
  Allow: always('The methods that there are.', allowedMethods.join(', ')),
});

type HeaderName = keyof ReturnType<typeof headersIn>;

const onEvery: readonly HeaderName[] = ['X-Request-Id', 'X-Content-Type-Options', 'Cache-Control'];
/** On responses after the rate limit. These include a 403 about a grant, but not a 403 about a scope. */
const limited: readonly HeaderName[] = ['RateLimit-Policy', 'RateLimit'];

function headersOf(names: readonly HeaderName[]): object {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

interface StatusMeaning {
  readonly name: string;
  readonly description: string;
  readonly headers?: readonly HeaderName[];
}

const meanings: Readonly<Record<number, StatusMeaning>> = {
  400: {
    name: 'InvalidRequest',
    description:
      'The request is not as it must be. All that is wrong with its parameters is told at once: do what ' +
      'each error says. The same request again gets the same answer.',
    headers: limited,
  },
  401: {
    name: 'Unauthorized',
    description: 'The credentials are missing or not good. Send a valid key; the same one will not do.',
    headers: ['WWW-Authenticate'],
  },
  403: {
    name: 'Forbidden',
    description:
      'The key is good, but not for this. What belongs to somebody else and what does not exist get the ' +
      'same answer. Do what the error says; the same request again will not do.',
  },
  404: {
    name: 'NotFound',
    description:
      'There is no such path. Paths are exact: case counts, and there is no trailing slash. Mend the path.',
  },
  405: {
    name: 'MethodNotAllowed',
    description: `Another method than ${allowedMethods.join(', ')}. Everything is read by GET.`,
    headers: ['Allow'],
  },
  408: {
    name: 'RequestTimeout',
    description:
      'The request did not arrive in time, and the connection is closed. Send it again, on another one.',
  },
  429: {
    name: 'RateLimited',
    description:
      'More requests in a second than the limit allows. Wait as long as `Retry-After-Ms` says, and send ' +
      'the request again. A refused request does not count.',
    headers: [...limited, 'Retry-After', 'Retry-After-Ms'],
  },
  431: {
    name: 'RequestTooLarge',
    description: 'The request line and headers are too large. Make them smaller; a cursor is short.',
  },
  500: {
    name: 'ServerError',
    description:
      'A fault of ours. Send the request again, waiting longer each time; report the request id if that ' +
      'does not help.',
    headers: limited,
  },
  503: {
    name: 'Unavailable',
    description:
      'We are briefly unable to answer. Send the request again after the seconds in `Retry-After`.',
    headers: [...limited, 'Retry-After'],
  },
};

const errorStatuses = Object.keys(meanings).map(Number);

/** The statuses whose examples differ between operations. The other responses are shared. */
const ownStatuses = [400, 403];

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

function culpritOf({ parameters }: Operation, code: ErrorCode): [string, Parameter] | undefined {
  const wanted = culprits[code];
  return Object.entries(parameters).find(([name, parameter]) =>
    typeof wanted === 'function' ? wanted(parameter) : name === wanted,
  );
}

/** The error that an operation gives for a code, with its sentence filled in. */
export function exampleOf(operation: Operation, code: ErrorCode, setting: Setting): ErrorRecord {
  const [name, parameter] = culpritOf(operation, code) ?? [];
  if (name === undefined || parameter === undefined) {
    const { environment, rate } = setting;
    const { scope } = operation;
    const prefix = keyPrefixes[environment];
    return errorRecord(code, { environment, prefix, scope, rate, requestId: exampleRequestId });
  }
  if (code !== 'UNKNOWN_QUERY_PARAMETER') return errorRecord(code, factsOf(parameter), name);
  const misspelt = name.replace('_i', 'I');
  return errorRecord(code, { name: misspelt, nearest: name }, misspelt);
}

/** The codes of the example with several errors. */
const together: readonly ErrorCode[] = [
  'MISSING_REQUIRED_PARAMETER',
  'VALUE_TOO_HIGH',
  'UNKNOWN_QUERY_PARAMETER',
];

function errorExamples(operation: Operation, status: number, setting: Setting): Record<string, object> {
  const given = (Object.keys(errorCatalogue) as ErrorCode[])
    .filter((code) => errorCatalogue[code].status === status)
    .filter((code) => !(code in culprits) || culpritOf(operation, code) !== undefined);
  const showing = (summary: string, codes: readonly ErrorCode[]) => ({
    summary,
    value: { errors: codes.map((code) => exampleOf(operation, code, setting)) },
  });
  const examples: Record<string, object> = {};
  for (const code of given) examples[code] = showing(errorCatalogue[code].when, [code]);
  const several = together.filter((code) => given.includes(code));
  if (several.length > 0)
    examples['several-at-once'] = showing('All that is wrong is told at once.', several);
  return examples;
}

function errorResponse(operation: Operation, status: number, setting: Setting): object {
  const { description, headers: own = [] } = meanings[status]!;
  const examples = errorExamples(operation, status, setting);
  const rates = 'GRANT_NOT_FOUND' in examples ? limited : [];
  return {
    description,
    headers: headersOf([...onEvery, ...own, ...rates]),
    content: { 'application/json': { schema: { $ref: '#/components/schemas/ErrorBody' }, examples } },
  };
}

function responseName(operation: Operation, status: number): string {
  const { name } = meanings[status]!;
  return ownStatuses.includes(status) ? `${capitalized(operation.name)}${name}` : name;
}

/** Every response but the page, by the name that `responsesOf` refers to. */
export function errorResponses(operations: readonly Operation[], setting: Setting): Record<string, object> {
  return Object.fromEntries(
    operations.flatMap((operation) =>
      errorStatuses.map((status) => [
        responseName(operation, status),
        errorResponse(operation, status, setting),
      ]),
    ),
  );
}

export function responsesOf(operation: Operation, setting: Setting): Record<string, object> {
  const page = {
    description: `A page of ${operation.name}. Send its cursor back to get the next; without one, it is the last.`,
    headers: headersOf([...onEvery, ...limited]),
    content: {
      'application/json': {
        schema: { $ref: `#/components/schemas/${capitalized(operation.name)}Page` },
        examples: listingTexts[operation.name].pages(setting.publicUrl),
      },
    },
  };
  const errors = errorStatuses.map((status) => [
    status,
    { $ref: `#/components/responses/${responseName(operation, status)}` },
  ]);
  return { 200: page, ...Object.fromEntries(errors) };
}

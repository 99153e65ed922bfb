/** The answers of the OpenAPI document: their headers, and every code of the catalogue under its status. */
import { keyPrefixes } from './environments.ts';
import { type ErrorCode, type ErrorRecord, errorCatalogue, errorRecord } from './errors.ts';
import { pageExamples, type Setting } from './openapi-schemas.ts';
import { allowedMethods, factsOf, type Operation } from './operations.ts';
import { capitalized } from './sentence.ts';

const exampleRequestId = '0b4e7a52-6c1d-4f39-9a80-2d5e8c7f1b36';

function header(description: string, required: boolean, schema: object): object {
  return { description, required, schema };
}

const text = { type: 'string', maxLength: 64 };
const count = { type: 'integer', format: 'int32', minimum: 1 };

export const headersIn = ({ listing, rate }: Setting) => ({
  'X-Request-Id': header('Names this answer. Give it to us when you report a problem.', true, {
    ...text,
    format: 'uuid',
    examples: [exampleRequestId],
  }),
  'X-Content-Type-Options': header('The content is what its type says.', true, {
    type: 'string',
    enum: ['nosniff'],
  }),
  'Cache-Control': header('Answers are not to be stored by caches.', true, {
    type: 'string',
    enum: ['no-store'],
  }),
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
  'Retry-After': header('Whole seconds to wait before the next attempt.', true, {
    ...count,
    maximum: 3_600,
    examples: [1],
  }),
  'Retry-After-Ms': header('The same wait, exactly: milliseconds.', true, {
    ...count,
    maximum: 3_600_000,
    examples: [137],
  }),
  'WWW-Authenticate': header('The scheme of the credentials.', true, { type: 'string', enum: ['Bearer'] }),
  Allow: header('The methods that there are.', true, {
    type: 'string',
    enum: [allowedMethods.join(', ')],
  }),
});

type HeaderName = keyof ReturnType<typeof headersIn>;

const always: readonly HeaderName[] = ['X-Request-Id', 'X-Content-Type-Options', 'Cache-Control'];
/** On answers that can come from behind the limiter; a 403 can where it is about a grant. */
const limited: readonly HeaderName[] = ['RateLimit-Policy', 'RateLimit'];

function headersOf(names: readonly HeaderName[]): object {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

interface StatusMeaning {
  readonly name: string;
  /** What happened, and what to do. */
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

/** What differs from operation to operation: which parameters can be wrong, and what a key may lack. */
const ownStatuses = [400, 403];

const codes = Object.keys(errorCatalogue) as ErrorCode[];

/** The codes that an operation can answer with. */
function codesOf({ parameters }: Operation, status: number): ErrorCode[] {
  const all = Object.values(parameters);
  const can: Partial<Record<ErrorCode, boolean>> = {
    MISSING_REQUIRED_PARAMETER: all.some(({ required }) => required),
    INVALID_ENUM_VALUE: all.some(({ schema }) => 'enum' in schema),
  };
  const hasGrants = 'grant_id' in parameters;
  return codes.filter((code) => {
    const entry = errorCatalogue[code];
    if (entry.status !== status || can[code] === false) return false;
    return entry.category !== 'GRANT_ERROR' || hasGrants;
  });
}

/** The error that an operation gives for a code, with facts as they are in life. */
export function exampleOf(operation: Operation, code: ErrorCode, setting: Setting): ErrorRecord {
  const parameters = Object.entries(operation.parameters);
  const nameOf = (fits: (parameter: Operation['parameters'][string]) => boolean) =>
    parameters.find(([, parameter]) => fits(parameter))![0];
  const about = (name: string) => errorRecord(code, factsOf(operation.parameters[name]!), name);
  const ownText = operation.name === 'brands' ? 'reference_id' : 'customer_id';
  const misspelt = ownText.replace(/_i/, 'I');
  switch (code) {
    case 'MISSING_REQUIRED_PARAMETER':
      return about(nameOf(({ required }) => required));
    case 'INVALID_ENUM_VALUE':
      return about(nameOf(({ schema }) => 'enum' in schema));
    case 'VALUE_EMPTY':
    case 'INVALID_CURSOR':
      return about('cursor');
    case 'VALUE_TOO_LONG':
    case 'INVALID_CHARACTER':
      return about(ownText);
    case 'EXPECTED_INTEGER':
    case 'VALUE_TOO_LOW':
    case 'VALUE_TOO_HIGH':
    case 'CONFLICTING_PARAMETERS':
      return about('limit');
    case 'UNKNOWN_QUERY_PARAMETER':
      return errorRecord(code, { name: misspelt, nearest: ownText }, misspelt);
    case 'GRANT_NOT_FOUND':
    case 'GRANT_EXPIRED':
    case 'GRANT_REVOKED':
    case 'GRANT_CONSUMED':
      return errorRecord(code, {}, 'grant_id');
    default:
      return errorRecord(code, {
        environment: setting.environment,
        prefix: keyPrefixes[setting.environment],
        scope: operation.scope,
        rate: setting.rate,
        requestId: exampleRequestId,
      });
  }
}

/** A slip or two that go together, as they are told: all at once. */
const together: readonly ErrorCode[] = [
  'MISSING_REQUIRED_PARAMETER',
  'VALUE_TOO_HIGH',
  'UNKNOWN_QUERY_PARAMETER',
];

function errorExamples(operation: Operation, status: number, setting: Setting): Record<string, object> {
  const given = codesOf(operation, status);
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
    headers: headersOf([...always, ...own, ...rates]),
    content: { 'application/json': { schema: { $ref: '#/components/schemas/ErrorBody' }, examples } },
  };
}

function responseName(operation: Operation, status: number): string {
  const { name } = meanings[status]!;
  return ownStatuses.includes(status) ? `${capitalized(operation.name)}${name}` : name;
}

/** Every answer but the page, by the name that `responsesOf` refers to. */
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
    headers: headersOf([...always, ...limited]),
    content: {
      'application/json': {
        schema: { $ref: `#/components/schemas/${capitalized(operation.name)}Page` },
        examples: pageExamples(setting)[operation.name],
      },
    },
  };
  const errors = errorStatuses.map((status) => [
    status,
    { $ref: `#/components/responses/${responseName(operation, status)}` },
  ]);
  return { 200: page, ...Object.fromEntries(errors) };
}

/** A value for each parameter that means something in the sandbox, as nobody else's cursor does. */
export const parameterExamples: Readonly<Record<string, string | number>> = {
  customer_id: 'CUSTOMER_1001',
  type: 'CHECKING',
  grant_id: 'GRANT_1001',
  reference_id: 'shop-17',
  limit: 50,
};

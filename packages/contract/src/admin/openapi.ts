/** The OpenAPI document of the administrative API, from the table of its operations. */
import { errorCatalogue } from '../errors.ts';
import { adminLimits, lengths, maxErrors, pageSize } from '../limits.ts';
import { adminRoleMeanings } from '../permissions.ts';
import { errorRecordSchema, type RecordSchema } from '../records.ts';
import { adminErrorCatalogue } from './errors.ts';
import {
  type AdminOperation,
  type AdminOperationId,
  type AdminResult,
  adminBasePath,
  adminOperations,
  errorStatusesOf,
} from './operations.ts';
import { adminRecords } from './records.ts';

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });

/** Codes that only partners get. */
const ofPartners = /^(GRANT_|INSUFFICIENT_SCOPES|PARTNER_DISABLED)/;
const catalogue = { ...errorCatalogue, ...adminErrorCatalogue };

const meanings: Readonly<Record<number, string>> = {
  200: 'Done.',
  201: 'Created.',
  207: 'Committed without the rejected lines, which `errors` lists.',
  400: 'The request is invalid. Correct what the errors name; the same request fails again.',
  401: 'The key is missing, unknown, revoked or expired.',
  403: 'The key does not have a role that may send this request.',
  404: 'What the path or the body names does not exist.',
  408: `The body was not complete after ${adminLimits.bodySeconds} seconds. Send the request again.`,
  409: 'The id belongs to something else, or the key to replace does not work any more.',
  413: 'The body is too large. Nothing was written.',
  415: 'The body has another type or encoding than the request takes. Nothing was written.',
  422: 'At least one line was rejected, so nothing was written.',
  500: 'The service failed unexpectedly. Report the request id.',
  503:
    'The database is lost or locked, or too much is under way. Send the same request again after ' +
    '`Retry-After` seconds: if it was written, the repetition says so.',
};

function errorResponse(status: number): object {
  const codes = Object.entries(catalogue).filter(
    ([code, entry]) => entry.status === status && !ofPartners.test(code),
  );
  const listed = codes.map(([code, { when }]) => `- \`${code}\`: ${when}`).join('\n');
  const isBody = status === 400;
  const more = isBody ? '\n\nA body also gets the codes of imports, such as `MISSING_REQUIRED_FIELD`.' : '';
  return {
    description: `${meanings[status]}\n\n${listed}${more}`,
    headers: headersOf(status),
    content: { 'application/json': { schema: ref('ErrorBody') } },
  };
}

const requestId = {
  description: 'Identifier of this response. Include it when you report a problem.',
  schema: { type: 'string', format: 'uuid' },
};

function headersOf(status: number): object {
  const wait = { description: 'Seconds to wait before a retry.', schema: { type: 'integer', minimum: 1 } };
  return { 'X-Request-Id': requestId, ...(status === 503 && { 'Retry-After': wait }) };
}

function resultSchema(result: AdminResult): object {
  if ('one' in result) {
    const secret = result.secret && { secret: { type: 'string', description: result.secret } };
    const properties = { [result.one]: ref(result.of), ...secret };
    return { type: 'object', required: [result.one], properties };
  }
  if ('list' in result) {
    const items = { type: 'array', items: ref(result.of), ...(result.isPaged && { maxItems: pageSize.max }) };
    const cursor = { type: 'string', description: 'Cursor of the next page. Absent on the last page.' };
    const properties = { [result.list]: items, ...(result.isPaged && { cursor }) };
    return { type: 'object', required: [result.list], properties };
  }
  return ref(result.of);
}

function bodySchema({ required, properties }: RecordSchema): object {
  return { type: 'object', additionalProperties: false, required, properties };
}

function requestBodyOf(id: AdminOperationId, { bodies, isBodyOptional }: AdminOperation): object {
  if (id.startsWith('send')) {
    const record = {
      type: 'object',
      description: 'A record, or a deletion with `deleted_at`, as in imports.',
    };
    return {
      required: true,
      description: `At most ${adminLimits.batchLines} lines and ${adminLimits.batchBytes} bytes, unpacked.`,
      content: {
        'application/x-ndjson': { schema: { type: 'string', description: 'One record a line.' } },
        'application/json': {
          schema: { type: 'array', maxItems: adminLimits.batchLines, items: record },
        },
      },
    };
  }
  const [first, ...others] = (bodies ?? []).map(bodySchema);
  const schema = others.length === 0 ? first : { oneOf: [first, ...others] };
  return { required: isBodyOptional !== true, content: { 'application/json': { schema } } };
}

function operationObject(id: AdminOperationId, operation: AdminOperation): object {
  const { method, role, summary, description, pathParameters = {}, parameters = {} } = operation;
  const { statuses = [200] } = operation;
  const inPath = Object.entries(pathParameters).map(([name, maxLength]) => ({
    ...{ name, in: 'path', required: true, schema: { type: 'string', minLength: 1, maxLength } },
    description: `Percent-encoded.${statuses.includes(201) ? ' `.` and `..` are refused.' : ''}`,
  }));
  const inQuery = Object.entries(parameters).map(([name, { required, description, schema }]) => ({
    ...{ name, in: 'query', required, description, schema },
  }));
  const onBehalf = {
    ...{ name: 'On-Behalf-Of', in: 'header', required: false },
    description: 'The name of the person behind the change, for the audit log. A claim, not a proof.',
    schema: { type: 'string', minLength: 1, maxLength: adminLimits.reasonCharacters },
  };
  const content = { 'application/json': { schema: resultSchema(operation.result) } };
  const successes = statuses.map((status) => [
    status,
    { description: meanings[status], headers: headersOf(status), content },
  ]);
  const errors = errorStatusesOf(operation);
  const refusals = errors.map((status) => [status, { $ref: `#/components/responses/${status}` }]);
  return {
    operationId: id,
    summary,
    description: `${description ?? `${summary}.`} Needs the role \`${role}\`.`,
    tags: [tagOf(operation.path)],
    parameters: [...inPath, ...inQuery, ...(method === 'GET' ? [] : [onBehalf])],
    ...(method !== 'GET' && { requestBody: requestBodyOf(id, operation) }),
    responses: Object.fromEntries([...successes, ...refusals]),
    'x-role': role,
  };
}

/** The first word of the path; batches belong together. */
function tagOf(path: string): string {
  return path.endsWith('/batches') ? 'batches' : path.split('/')[1]!;
}

/** `publicUrl` is the address of the service that serves the document. */
export function adminOpenApi(publicUrl = 'http://127.0.0.1:8090'): object {
  const all = Object.entries(adminOperations) as [AdminOperationId, AdminOperation][];
  const paths: Record<string, Record<string, object>> = {};
  for (const [id, operation] of all) {
    paths[operation.path] = {
      ...paths[operation.path],
      [operation.method.toLowerCase()]: operationObject(id, operation),
    };
  }
  const statuses = new Set(all.flatMap(([, operation]) => errorStatusesOf(operation)));
  return {
    openapi: '3.1.0',
    info: {
      title: 'Partner Network: administrative API',
      version: '1.0.0',
      description:
        'Sends brands, balances and grants, and manages partners, keys, grants and customers. Every ' +
        'request can be repeated: the sender chooses ids, and times decide which record is newer.',
      license: { name: 'MIT', url: 'https://opensource.org/license/mit' },
    },
    servers: [{ url: publicUrl + adminBasePath }],
    tags: [...new Set(all.map(([, { path }]) => tagOf(path)))].map((name) => ({ name })),
    security: [{ AdminKey: [] }],
    paths,
    components: {
      schemas: { ...recordSchemas(), ErrorBody: errorBody, ErrorRecord: errorRecord },
      responses: Object.fromEntries([...statuses].toSorted().map((one) => [one, errorResponse(one)])),
      securitySchemes: {
        AdminKey: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'administrative key',
          description: Object.entries(adminRoleMeanings)
            .map(([role, meaning]) => `- \`${role}\`: ${meaning}`)
            .join('\n'),
        },
      },
    },
  };
}

function recordSchemas(): Record<string, object> {
  const lineError = {
    allOf: [ref('ErrorRecord')],
    properties: {
      line: { type: 'integer', minimum: 1, description: 'The number of the line, from 1.' },
      id: { type: 'string', description: 'The id of the record, if the line has one.' },
    },
  };
  const named = Object.entries(adminRecords).map(([name, { description, required, properties }]) => {
    const errors = name === 'BatchResult' && {
      errors: { ...(properties as Record<string, object>).errors, items: lineError },
    };
    return [name, { type: 'object', description, required, properties: { ...properties, ...errors } }];
  });
  return Object.fromEntries(named);
}

const errorRecord = {
  type: 'object',
  description: 'One error of a request or of a line.',
  required: ['category', 'code', 'detail'],
  properties: {
    ...errorRecordSchema.properties,
    code: { ...errorRecordSchema.properties.code, maxLength: lengths.errorCode },
  },
};

const errorBody = {
  type: 'object',
  description: 'The body of a refusal.',
  required: ['errors'],
  properties: {
    errors: { type: 'array', minItems: 1, maxItems: maxErrors, items: ref('ErrorRecord') },
  },
};

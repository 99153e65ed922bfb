/** The administrative API, as its OpenAPI document and its reference show it. */
import { type AnyErrorCode, everyError } from '../errors.ts';
import { adminLimits, lengths, maxErrors, pageSize } from '../limits.ts';
import { type Api, ref } from '../openapi/document.ts';
import { requestIdHeader, retryAfterHeader } from '../openapi/responses.ts';
import type { Result } from '../operations.ts';
import { adminRoleMeanings } from '../permissions.ts';
import { errorRecordSchema, type RecordSchema } from '../records.ts';
import { type AdminOperation, adminBasePath, adminOperations } from './operations.ts';
import { adminRecords } from './records.ts';

/** Codes that only partners get. */
const ofPartners = /^(GRANT_|INSUFFICIENT_SCOPES|PARTNER_DISABLED)/;
const codes = (Object.keys(everyError) as AnyErrorCode[]).filter((code) => !ofPartners.test(code));

const meanings: Readonly<Record<number, string>> = {
  200: 'Done.',
  201: 'Created.',
  207: 'Committed without the rejected lines, which `errors` lists.',
  400:
    'The request is invalid. Correct what the errors name; the same request fails again. A body also gets ' +
    'the codes of imports, such as `MISSING_REQUIRED_FIELD`.',
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

/** `publicUrl` is the address of the service that serves the document. */
export function adminApi(publicUrl = 'http://127.0.0.1:8090'): Api<AdminOperation> {
  return {
    info,
    servers: [{ url: publicUrl + adminBasePath }],
    tags: [...new Set(Object.values(adminOperations).map(({ tag }) => tag))].map((name) => ({ name })),
    basePath: adminBasePath,
    operations: adminOperations,
    keys: { name: 'AdminKey', scheme },
    schemas,
    headers: { 'X-Request-Id': requestIdHeader, 'Retry-After': retryAfterHeader },
    changeParameters: [onBehalfOf],
    descriptionOf: ({ summary, description = `${summary}.`, permission }) =>
      `${description} Needs the role \`${permission}\`.`,
    curlOf: (operation) => curlOf(operation, publicUrl),
    successOf: ({ result }, status) => ({
      description: meanings[status]!,
      headers: ['X-Request-Id'],
      schema: resultSchema(result),
    }),
    refusalOf: (_, status) => ({
      name: String(status),
      description: meanings[status]!,
      headers: status === 503 ? ['X-Request-Id', 'Retry-After'] : ['X-Request-Id'],
      schema: ref('schemas', 'ErrorBody'),
      codes: codes.filter((code) => everyError[code].status === status),
    }),
    extensionsOf: ({ permission }) => ({ 'x-role': permission }),
  };
}

const info = {
  title: 'Partner Network: administrative API',
  version: '1.1.0',
  description: [
    'Sends brands, balances and grants, and manages partners, keys, grants and customers. Every request ' +
      'can be repeated: the sender chooses ids, and times decide which record is newer. A lost answer is ' +
      'never a doubled effect.',
    'A change may have a header `On-Behalf-Of: NAME`, for the audit log.',
    `A batch has one record a line, or is a JSON list. It has at most ${adminLimits.batchLines} lines and ` +
      `${adminLimits.batchBytes / 1024 / 1024} MiB, and may be packed with \`Content-Encoding: gzip\`.`,
  ].join('\n\n'),
  license: { name: 'MIT', url: 'https://opensource.org/license/mit' },
};

const scheme = {
  bearerFormat: 'administrative key',
  description: [
    'Send an administrative key with every request: `Authorization: Bearer pna_…`. An operator creates it ' +
      'with `partner-network admin-keys create`. A key has one role:',
    Object.entries(adminRoleMeanings)
      .map(([role, meaning]) => `- \`${role}\`: ${meaning}`)
      .join('\n'),
  ].join('\n\n'),
};

const onBehalfOf = {
  name: 'On-Behalf-Of',
  in: 'header',
  required: false,
  description: 'The name of the person behind the change, for the audit log. A claim, not a proof.',
  schema: { type: 'string', minLength: 1, maxLength: adminLimits.reasonCharacters },
};

function resultSchema(result: Result): object {
  if ('one' in result) {
    const secret = result.secret && { secret: { type: 'string', description: result.secret } };
    const properties = { [result.one]: ref('schemas', result.of), ...secret };
    return { type: 'object', required: [result.one], properties };
  }
  if ('list' in result) {
    const records = { type: 'array', items: ref('schemas', result.of) };
    const page = {
      [result.list]: { ...records, maxItems: pageSize.max },
      cursor: { type: 'string', description: 'Cursor of the next page. Absent on the last page.' },
    };
    const properties = result.isPaged ? page : { [result.list]: records };
    return { type: 'object', required: [result.list], properties };
  }
  return ref('schemas', result.of);
}

/** A command to paste. Its body has the required fields. */
function curlOf({ method, path, tag, bodies, isBodyOptional }: AdminOperation, publicUrl: string): string {
  const isBatch = tag === 'batches';
  const schema = isBodyOptional ? undefined : bodies?.at(-1);
  const type = isBatch ? 'application/x-ndjson' : 'application/json';
  const data = isBatch
    ? `--data-binary @${path.split('/').at(-2)}.jsonl`
    : schema && `--data '${exampleOf(schema)}'`;
  return [
    `curl ${method === 'GET' ? '' : `-X ${method} `}'${publicUrl}${path}'`,
    `-H "Authorization: Bearer $${isBatch ? 'INGEST' : 'ADMIN'}_KEY"`,
    ...(data === undefined ? [] : [`-H 'Content-Type: ${type}'`, data]),
  ].join(' \\\n  ');
}

function exampleOf({ required, properties }: RecordSchema): string {
  const values = required.map((name) => [name, properties[name]?.items?.enum ?? '…']);
  return JSON.stringify(Object.fromEntries(values));
}

const schemas: Readonly<Record<string, object>> = {
  ...Object.fromEntries(
    Object.entries(adminRecords).map(([name, record]) => [name, { type: 'object', ...record }]),
  ),
  ErrorBody: {
    type: 'object',
    description: 'The body of a refusal.',
    required: ['errors'],
    properties: {
      errors: { type: 'array', minItems: 1, maxItems: maxErrors, items: ref('schemas', 'ErrorRecord') },
    },
  },
  ErrorRecord: {
    type: 'object',
    description: 'One error of a request or of a line.',
    required: ['category', 'code', 'detail'],
    properties: {
      ...errorRecordSchema.properties,
      code: { ...errorRecordSchema.properties.code, maxLength: lengths.errorCode },
    },
  },
};

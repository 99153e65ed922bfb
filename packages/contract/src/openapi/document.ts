/** Makes the OpenAPI document of an API. */
import { type AnyErrorCode, everyError } from '../errors.ts';
import { filtersOf, type Operation, type Parameter } from '../operations.ts';
import type { FieldSchema } from '../records.ts';

/** An API, as its document and its reference show it. */
export interface Api<O extends Operation = Operation> {
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  /** The service that serves the document comes first. */
  readonly servers: readonly { readonly url: string }[];
  readonly tags: readonly { readonly name: string; readonly description?: string }[];
  readonly basePath: string;
  readonly operations: Readonly<Record<string, O>>;
  /** The kind of keys: its name in the document, and what it says about them. */
  readonly keys: { readonly name: string; readonly scheme: { readonly description: string } };
  readonly schemas: Readonly<Record<string, object>>;
  readonly headers: Readonly<Record<string, object>>;
  /** Parameters of all operations that change something. */
  readonly changeParameters?: readonly object[];
  /** The name of the component of a parameter. Without it, parameters stand with their operation. */
  parameterName?(operation: O, name: string): string;
  descriptionOf(operation: O): string;
  /** The command that calls it. */
  curlOf(operation: O): string;
  successOf(operation: O, status: number): ApiResponse;
  refusalOf(operation: O, status: number): ApiRefusal;
  /** What only this API says about an operation. */
  extensionsOf(operation: O): object;
}

export interface ApiResponse {
  readonly description: string;
  /** Names of headers of the API. */
  readonly headers: readonly string[];
  readonly schema: object;
  readonly examples?: Readonly<Record<string, { readonly summary: string; readonly value: object }>>;
}

export interface ApiRefusal extends ApiResponse {
  /** The name of its component. */
  readonly name: string;
  readonly codes: readonly AnyErrorCode[];
}

export const ref = (kind: 'headers' | 'parameters' | 'responses' | 'schemas', name: string) => ({
  $ref: `#/components/${kind}/${name}`,
});

export function openApi<O extends Operation>(api: Api<O>): object {
  const { info, servers, tags, basePath, keys, schemas, headers, parameterName } = api;
  const operations = Object.entries(api.operations);
  const paths: Record<string, object> = {};
  for (const [id, operation] of operations) {
    const path = operation.path.slice(basePath.length);
    const method = operation.method.toLowerCase();
    paths[path] = { ...paths[path], [method]: operationObject(api, id, operation) };
  }
  const parameters = operations.flatMap(([, operation]) =>
    Object.entries(operation.parameters).map(([name, parameter]) => [
      parameterName?.(operation, name),
      queryParameter(name, parameter),
    ]),
  );
  const refusals = operations.flatMap(([, operation]) =>
    operation.errors.map((status) => {
      const refusal = api.refusalOf(operation, status);
      return [refusal.name, refusalObject(refusal)];
    }),
  );
  return {
    // Not 3.1.1: some generators refuse it.
    openapi: '3.1.0',
    info,
    servers,
    tags,
    security: [{ [keys.name]: [] }],
    paths,
    components: {
      schemas,
      ...(parameterName && { parameters: Object.fromEntries(parameters) }),
      headers,
      responses: Object.fromEntries(refusals),
      securitySchemes: { [keys.name]: { type: 'http', scheme: 'bearer', ...keys.scheme } },
    },
  };
}

function operationObject<O extends Operation>(api: Api<O>, id: string, operation: O): object {
  const { method, permission, tag, summary, statuses = [200], errors } = operation;
  return {
    operationId: id,
    summary,
    description: api.descriptionOf(operation),
    tags: [tag],
    security: [{ [api.keys.name]: [permission] }],
    parameters: parametersOf(api, operation),
    ...(method !== 'GET' && { requestBody: operation.batchBody ?? jsonBody(operation) }),
    responses: Object.fromEntries([
      ...statuses.map((status) => [status, responseObject(api.successOf(operation, status))]),
      ...errors.map((status) => [status, ref('responses', api.refusalOf(operation, status).name)]),
    ]),
    ...api.extensionsOf(operation),
  };
}

/** The names of parameters with those of pagination last. Errors are in the order of the specification. */
export function parametersInOrder(operation: Operation): string[] {
  return [...new Set([...filtersOf(operation), ...Object.keys(operation.parameters)])];
}

function parametersOf<O extends Operation>(api: Api<O>, operation: O): object[] {
  const { method, pathParameters = {}, parameters, statuses = [] } = operation;
  const inPath = Object.entries(pathParameters).map(([name, maxLength]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string', minLength: 1, maxLength },
    description: `Percent-encoded.${statuses.includes(201) ? ' `.` and `..` are refused.' : ''}`,
  }));
  const inQuery = parametersInOrder(operation).map((name) =>
    api.parameterName === undefined
      ? queryParameter(name, parameters[name]!)
      : ref('parameters', api.parameterName(operation, name)),
  );
  return [...inPath, ...inQuery, ...(method === 'GET' ? [] : (api.changeParameters ?? []))];
}

function queryParameter(name: string, { required, description, schema, example }: Parameter): object {
  const { description: _, ...bounds } = asSent(schema);
  const exact = name === 'cursor' ? { ...bounds, pattern: cursorText } : bounds;
  return { name, in: 'query', required, description, schema: exact, example };
}

function jsonBody({ bodies = [], isBodyOptional = false }: Operation): object {
  const [first, ...others] = bodies.map(({ required, properties }) => ({
    type: 'object',
    additionalProperties: false,
    required,
    properties,
  }));
  const schema = others.length === 0 ? first : { oneOf: [first, ...others] };
  return { required: !isBodyOptional, content: { 'application/json': { schema } } };
}

function responseObject({ description, headers, schema, examples }: ApiResponse): object {
  return {
    description,
    headers: Object.fromEntries(headers.map((name) => [name, ref('headers', name)])),
    content: { 'application/json': { schema, examples } },
  };
}

/** Examples say what their codes mean. Without examples, the description does. */
function refusalObject(refusal: ApiRefusal): object {
  if (refusal.examples !== undefined) return responseObject(refusal);
  const listed = refusal.codes.map((code) => `- \`${code}\`: ${everyError[code].when}`);
  return responseObject({ ...refusal, description: `${refusal.description}\n\n${listed.join('\n')}` });
}

/** A cursor is base64url without padding. */
export const cursorText = '^[A-Za-z0-9_-]+$';

const addressText = '^[Hh][Tt][Tt][Pp][Ss]?://[^\\s/?#]\\S*$';

/**
 * Adds to a schema what is true of the values that are sent, even if an import is less strict. Times have no
 * pattern or length: generators for Python and C# fail on them. Texts have no pattern against control
 * characters: mocks would make unreadable values from it.
 */
export function asSent(schema: FieldSchema): FieldSchema {
  if (schema.type === 'integer')
    return { ...schema, format: (schema.maximum ?? 0) < 2 ** 31 ? 'int32' : 'int64' };
  if (schema.format !== 'uri') return schema;
  // Addresses are sent as they were imported, including characters that RFC 3986 does not allow.
  const { format: _, ...address } = schema;
  return { ...address, pattern: addressText };
}

/** Compares a response with the OpenAPI document: its status, headers, body and error codes. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { ErrorRecord } from '@partner-network/contract/errors';
import { basePath } from '@partner-network/contract/operations';
import { compiledSchemas, headerKey } from './compiled-schemas.ts';

interface DocumentedAnswer {
  readonly status: number;
  /** Keyed by lower-case name. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

interface Response {
  readonly headers: object;
  readonly content: { readonly 'application/json': { schema: { readonly $ref: string }; examples: object } };
}

type Responses = Readonly<Record<string, Response | { readonly $ref: string }>>;

interface OpenApi {
  readonly paths: Readonly<Record<string, { readonly get: { readonly responses: Responses } }>>;
  readonly components: {
    readonly headers: Readonly<Record<string, { required: boolean; schema: { type: string } }>>;
    readonly responses: Readonly<Record<string, Response>>;
  };
}

const documentText = readFileSync(new URL('../../../docs/openapi.json', import.meta.url), 'utf8');
const document: OpenApi = JSON.parse(documentText);
const isValid = await compiledSchemas(documentText);

/** Headers that HTTP itself adds, and one for caches. */
const headersOfHttp = new Set('connection content-length content-type date keep-alive vary'.split(' '));
/** Headers with one value, which the document leaves out, by the status that has them. */
const constantHeaders = (status: number): Readonly<Record<string, string>> => ({
  'x-content-type-options': 'nosniff',
  ...(status !== 204 && { 'cache-control': 'no-store' }),
  ...((status === 204 || status === 405) && { allow: 'GET, HEAD, OPTIONS' }),
});
/** A control character in a JSON text: as an escape, or U+007F itself. */
const controlCharacter = /(?<!\\)(\\\\)*\\([bfnrt]|u00[01])|\x7f/;
/** Statuses of requests that are not in the document. */
const statusesOfAnyRequest = new Set([400, 404, 405, 408, 431, 500, 503]);

/**
 * Fails unless the document describes this response to this method and path. The path of bytes from a socket
 * is unknown: then the response must fit one of the operations.
 */
export function assertDocumented(answer: DocumentedAnswer, method: string, path?: string): void {
  const faults = leastFaults(answer, method, path);
  if (faults.length === 0) return;
  const { status, text } = answer;
  assert.fail(`${method} ${path ?? ''} answered ${status}: ${faults.join('; ')}\n${text.slice(0, 2_000)}`);
}

/** An error about the address, as a page for a browser or as Markdown. */
export function isPageOfError({ status, headers }: DocumentedAnswer): boolean {
  return (status === 404 || status === 405) && /^text\/(html|markdown)/.test(String(headers['content-type']));
}

/** `fetch` that fails if the response is not documented. */
export async function documentedFetch(url: string | URL | Request, init?: RequestInit) {
  const response = await fetch(url, init);
  const answer = {
    status: response.status,
    headers: Object.fromEntries(response.headers),
    text: await response.clone().text(),
  };
  const method = init?.method ?? (url instanceof Request ? url.method : 'GET');
  assertDocumented(answer, method, new URL(response.url).pathname);
  return response;
}

function leastFaults(answer: DocumentedAnswer, method: string, path: string | undefined): string[] {
  const { status } = answer;
  const own = path === undefined ? undefined : document.paths[path.split('?')[0]!.replace(basePath, '')];
  if (own !== undefined && method === 'OPTIONS' && status === 204)
    return faultsOfHeaders(answer, ['X-Request-Id']);
  const isListing = own !== undefined && (method === 'GET' || method === 'HEAD');
  if (path !== undefined && !isListing && !statusesOfAnyRequest.has(status))
    return [`status ${status} is for listings only`];
  const operations = own === undefined ? Object.values(document.paths) : [own];
  const faults = operations.map(({ get }) => faultsOf(answer, method, get.responses));
  return faults.find((found) => found.length === 0) ?? faults[0]!;
}

function faultsOf(answer: DocumentedAnswer, method: string, responses: Responses): string[] {
  const response = resolve(responses[answer.status]);
  if (response === undefined) return [`status ${answer.status} is not documented`];
  const { headers, text } = answer;
  const faults = faultsOfHeaders(answer, Object.keys(response.headers));
  if (headers['content-type'] !== 'application/json; charset=utf-8') faults.push('it is not JSON in UTF-8');
  if (method === 'HEAD') {
    if (text !== '' || !(Number(headers['content-length']) > 0)) faults.push('HEAD has a body, or no length');
    return faults;
  }
  if (headers['content-length'] !== String(Buffer.byteLength(text))) faults.push('its length is wrong');
  return [...faults, ...faultsOfBody(text, response)];
}

function resolve(response: Responses[string] | undefined): Response | undefined {
  if (response === undefined || !('$ref' in response)) return response;
  return document.components.responses[lastOf(response.$ref)];
}

function lastOf(reference: string): string {
  return reference.slice(reference.lastIndexOf('/') + 1);
}

/** Headers that are missing, invalid or not documented. */
function faultsOfHeaders({ status, headers }: DocumentedAnswer, documented: readonly string[]): string[] {
  const faults = documented.flatMap((name) => {
    const { required, schema } = document.components.headers[name]!;
    const value = headers[name.toLowerCase()];
    if (value === undefined) return required ? [`${name} is missing`] : [];
    const isNumber = schema.type === 'integer' && /^\d+$/.test(String(value));
    return isValid[headerKey(name)]!(isNumber ? Number(value) : value) ? [] : [`${name} is ${value}`];
  });
  const constants = constantHeaders(status);
  for (const [name, value] of Object.entries(constants)) {
    if (headers[name] !== value) faults.push(`${name} is ${headers[name]}`);
  }
  const known = new Set([...documented.map((name) => name.toLowerCase()), ...Object.keys(constants)]);
  const unknown = Object.keys(headers).filter((name) => !known.has(name) && !headersOfHttp.has(name));
  return [...faults, ...unknown.map((name) => `${name} is not documented`)];
}

function faultsOfBody(text: string, response: Response): string[] {
  const { schema, examples } = response.content['application/json'];
  if (controlCharacter.test(text)) return ['it contains a control character'];
  const body = JSON.parse(text);
  const validate = isValid[lastOf(schema.$ref)]!;
  if (!validate(body))
    return (validate.errors ?? []).map((error) => `${error.instancePath} ${error.message}`);
  const errors: readonly ErrorRecord[] = body.errors ?? [];
  return errors.filter(({ code }) => !(code in examples)).map(({ code }) => `${code} is not documented here`);
}

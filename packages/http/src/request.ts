/** Reads a request: its target, its headers, whether it is unambiguous, and the parameters of its query. */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import querystring from 'node:querystring';
import { httpBounds } from '@partner-network/common/bounds/http';
import { brokenRule, echo, isPlainInteger, suggest } from '@partner-network/common/text';
import { type ErrorCode, type ErrorRecord, errorRecord } from '@partner-network/contract/errors';
import { echoedCharacters, maxErrors } from '@partner-network/contract/limits';
import { factsOf, type Operation, type Parameter, renamingTo } from '@partner-network/contract/operations';
import { Refusal } from './refusal.ts';

/** The part of a request that is read. */
export type RequestHead = Pick<IncomingMessage, 'method' | 'url' | 'httpVersion' | 'rawHeaders'>;

/**
 * A UUID of version 7, which begins with the time. Receipts are indexed by it: with random ids, a receipt
 * takes 31 µs instead of 18 on the embedded database, because each goes to another page of the index.
 */
export function newRequestId(): string {
  const time = Date.now().toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`;
}

/** Scheme and authority of an absolute-form target, which a proxy may send. */
const authority = /^https?:\/\/[^/?]*/i;

/** Splits a request target. The path stays as it was sent: routes match it exactly, without decoding. */
export function splitTarget(url: string): { readonly path: string; readonly query: string } {
  const target = url.startsWith('/') ? url : url.replace(authority, '');
  const mark = target.indexOf('?');
  return mark === -1
    ? { path: target, query: '' }
    : { path: target.slice(0, mark), query: target.slice(mark + 1) };
}

/** All values of one header, as sent: Node's own record keeps only the first of some headers. */
export function headerValues(rawHeaders: readonly string[], lowerCaseName: string): string[] {
  const values: string[] = [];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]!;
    if (name.length === lowerCaseName.length && name.toLowerCase() === lowerCaseName) {
      values.push(rawHeaders[index + 1]!);
    }
  }
  return values;
}

/** Whether the head of a request is within its bounds. Node counts only the bytes of names and values. */
export function isWithinBounds({ method = '', url = '', rawHeaders }: RequestHead): boolean {
  // As they were sent, without optional white space.
  let bytes = method.length + url.length + '  HTTP/1.1\r\n\r\n'.length;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    bytes += rawHeaders[index]!.length + rawHeaders[index + 1]!.length + ': \r\n'.length;
  }
  return bytes <= httpBounds.requestHeadBytes && rawHeaders.length <= 2 * httpBounds.requestHeaders;
}

/** Rejects ambiguous requests: a proxy could parse them differently, which allows request smuggling. */
export function isWellFormed({ httpVersion, rawHeaders }: RequestHead): boolean {
  // Node also parses versions that do not exist, such as HTTP/2.0 in a request line.
  const isVersionKnown = httpVersion === '1.1' || httpVersion === '1.0';
  return isVersionKnown && isHostClear(rawHeaders, httpVersion) && isBodyClear(rawHeaders, httpVersion);
}

/** The characters of a host name, a port and an address in brackets. */
const hostForm = /^[\w.~!$&'()*+,;=%:[\]-]*$/;

function isHostClear(rawHeaders: readonly string[], httpVersion: string): boolean {
  const [host, ...others] = headerValues(rawHeaders, 'host');
  if (host === undefined) return httpVersion === '1.0';
  return others.length === 0 && hostForm.test(host);
}

/** All proxies must agree where a body ends: by its length, or by `chunked` of HTTP/1.1 alone. */
function isBodyClear(rawHeaders: readonly string[], httpVersion: string): boolean {
  const [encoding, ...others] = headerValues(rawHeaders, 'transfer-encoding');
  if (encoding === undefined) return true;
  return others.length === 0 && httpVersion === '1.1' && encoding.toLowerCase() === 'chunked';
}

/** The first headers of every response. */
export function commonHeaders(requestId: string): string[] {
  return ['X-Request-Id', requestId, 'X-Content-Type-Options', 'nosniff'];
}

type Value<P extends Parameter> = P['schema'] extends { type: 'integer' } ? number : string;

type Parametrized = Pick<Operation, 'parameters'>;

/** The values of an operation's parameters. An absent one is undefined, unless it has a default. */
export type ParameterValues<O extends Parametrized> = {
  readonly [Name in keyof O['parameters']]: O['parameters'][Name] extends
    | { required: true }
    | { schema: { default: number } }
    ? Value<O['parameters'][Name]>
    : Value<O['parameters'][Name]> | undefined;
};

/** Reads all parameters, or refuses with the errors of known parameters in order, then of unknown ones. */
export function parseParameters<O extends Parametrized>(operation: O, query: string): ParameterValues<O> {
  const { values, errors } = readAll(operation, query);
  if (errors.length > 0) throw new Refusal(errors);
  return values as ParameterValues<O>;
}

/** The valid parameters of a request that was refused, for its receipt. */
export function validParameters<O extends Parametrized>(operation: O, query: string) {
  return readAll(operation, query).values as Partial<ParameterValues<O>>;
}

function readAll(operation: Parametrized, query: string) {
  const sent = splitQuery(query);
  const values: Record<string, string | number | undefined> = {};
  const errors: ErrorRecord[] = [];

  // With Object.entries and a list of unknown names, a request without parameters takes 0.7 µs more.
  for (const name in operation.parameters) {
    const parameter = operation.parameters[name]!;
    const result = read(sent.get(name), parameter);
    sent.delete(name);
    if (typeof result === 'object') errors.push(errorRecord(result.code, factsOf(parameter), name));
    else values[name] = result;
  }
  if (sent.size === 0) return { values, errors };

  const known = Object.keys(operation.parameters);
  for (const name of [...sent.keys()].slice(0, maxErrors - errors.length)) {
    const field = echo(name, echoedCharacters);
    const nearest = suggest(field, known);
    const facts = {
      name: field === '' ? 'without a name' : field,
      renaming: nearest === undefined ? '' : renamingTo(nearest),
    };
    errors.push(errorRecord('UNKNOWN_QUERY_PARAMETER', facts, field));
  }

  return { values, errors };
}

interface Refused {
  readonly code: ErrorCode;
}

/** A parameter's value, or its first error: given twice, encoding, a rule for texts, a rule for numbers. */
function read(
  texts: readonly string[] | undefined,
  { required, schema }: Parameter,
): string | number | undefined | Refused {
  if (texts === undefined) {
    if (required) return { code: 'MISSING_REQUIRED_PARAMETER' };
    return schema.type === 'integer' ? schema.default : undefined;
  }
  if (texts.length > 1) return { code: 'CONFLICTING_PARAMETERS' };
  const text = decode(texts[0]!);
  if (text === undefined) return { code: 'INVALID_CHARACTER' };
  const code = brokenRule(text, schema);
  if (code !== undefined) return { code };
  return schema.type === 'integer' ? readInteger(text, schema) : text;
}

function readInteger(text: string, schema: { minimum: number; maximum: number }): number | Refused {
  if (!isPlainInteger(text)) return { code: 'EXPECTED_INTEGER' };
  if (Number(text) < schema.minimum) return { code: 'VALUE_TOO_LOW' };
  return Number(text) > schema.maximum ? { code: 'VALUE_TOO_HIGH' } : Number(text);
}

/**
 * The parameters of a query string by name, in the order of their first appearance. Values stay encoded.
 * Only the first hundred are read, of up to 8,000: the request is refused anyway, because some of the
 * hundred are unknown or given twice.
 */
export function splitQuery(query: string): Map<string, string[]> {
  const parameters = new Map<string, string[]>();
  for (const [pair] of query.matchAll(/[^&]+/g).take(httpBounds.queryParameters)) {
    const equals = pair.indexOf('=');
    // A name that is not UTF-8 is still shown in the error, with replacement characters.
    const encoded = equals === -1 ? pair : pair.slice(0, equals);
    const name = querystring.unescape(encoded.replaceAll('+', ' '));
    const value = equals === -1 ? '' : pair.slice(equals + 1);
    const values = parameters.get(name);
    if (values === undefined) parameters.set(name, [value]);
    else values.push(value);
  }
  return parameters;
}

/** The name of the first parameter with a byte over 0x7F, which must be percent-encoded. */
export function nameOfRawByte(query: string): string | undefined {
  const pair = query.split('&').find((text) => /[\x80-\xff]/.test(text));
  if (pair === undefined) return undefined;
  return splitQuery(Buffer.from(pair, 'latin1').toString()).keys().next().value;
}

/** Decodes percent-encoded UTF-8. Undefined if the encoding is broken. */
export function decode(encoded: string): string | undefined {
  // Most values need no decoding.
  if (!/[%+]/.test(encoded)) return encoded;
  try {
    return decodeURIComponent(encoded.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}

/** Reads the head of a request: its target, its headers, and whether it is unambiguous. */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { httpBounds } from '@partner-network/common/bounds/http';

/** The part of a request that is read. */
export type RequestHead = Pick<IncomingMessage, 'method' | 'url' | 'httpVersion' | 'rawHeaders'>;

/** The millisecond of the last id, and the text for it. */
let lastMs = 0;
let timeOfId = '';

/**
 * A UUID of version 7, which begins with the time. Receipts are indexed by it: with random ids, a receipt
 * takes 31 µs instead of 18 on the embedded database, because each goes to another page of the index.
 */
export function newRequestId(): string {
  const nowMs = Date.now();
  if (nowMs !== lastMs) {
    const time = nowMs.toString(16).padStart(12, '0');
    timeOfId = `${time.slice(0, 8)}-${time.slice(8)}-7`;
    lastMs = nowMs;
  }
  return timeOfId + randomUUID().slice(15);
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

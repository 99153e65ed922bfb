/** Answers as bytes, for sockets on which no request came of what was sent. */
import { randomUUID } from 'node:crypto';
import type { Routes } from '../handle.ts';
import { type Refusal, refusal } from '../refusal.ts';
import { splitTarget } from '../target.ts';
import { STATUS_CODES } from './node-http.ts';

interface SocketFault extends NodeJS.ErrnoException {
  readonly rawPacket?: Buffer;
  readonly bytesParsed?: number;
}

export function refusalOfSocketFault(fault: SocketFault, routes: Routes): Refusal {
  if (fault.code === 'HPE_HEADER_OVERFLOW') return refusal('REQUEST_TOO_LARGE');
  if (fault.code === 'ERR_HTTP_REQUEST_TIMEOUT') return refusal('REQUEST_TIMEOUT');
  const target = fault.code === 'HPE_INVALID_METHOD' ? targetOfUnknownMethod(fault) : undefined;
  return target === undefined ? refusal('MALFORMED_REQUEST') : refusalOfMethod(target, routes);
}

/** A method that Node cannot parse, or hands over, is none of ours; the path counts first, as always. */
export function refusalOfMethod(target: string, routes: Routes): Refusal {
  return refusal(routes.has(splitTarget(target).path) ? 'METHOD_NOT_ALLOWED' : 'NOT_FOUND');
}

const methodByte = /[!#$%&'*+.^_`|~0-9A-Za-z-]/;
const requestLine = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+ (\S+) HTTP\/1\.[01]\r?\n/;

/** The target of a request that is good HTTP but for a method that Node does not know. */
function targetOfUnknownMethod({ rawPacket, bytesParsed = 0 }: SocketFault): string | undefined {
  if (rawPacket === undefined) return undefined;
  let start = bytesParsed;
  while (start > 0 && methodByte.test(String.fromCharCode(rawPacket[start - 1]!))) start -= 1;
  return requestLine.exec(rawPacket.toString('latin1', start))?.[1];
}

/** A whole response, and the id under which the log has it. */
export function rawResponse({ status, errors, headers }: Refusal): { bytes: string; requestId: string } {
  const requestId = randomUUID();
  const body = JSON.stringify({ errors });
  const lines = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    `Date: ${new Date().toUTCString()}`,
    `X-Request-Id: ${requestId}`,
    'X-Content-Type-Options: nosniff',
    'Cache-Control: no-store',
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ];
  for (let index = 0; index < headers.length; index += 2)
    lines.push(`${headers[index]}: ${headers[index + 1]}`);
  return { bytes: [...lines, '', body].join('\r\n'), requestId };
}

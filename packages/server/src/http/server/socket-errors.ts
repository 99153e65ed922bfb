/** Error responses as bytes, for sockets whose data did not parse as a request that Node hands over. */
import type { Routes } from '../handle.ts';
import { commonHeaders, errorResponse, type Refusal, refusal } from '../refusal.ts';
import { splitTarget } from '../request.ts';
import { STATUS_CODES } from './node-http.ts';

interface SocketError extends NodeJS.ErrnoException {
  readonly rawPacket?: Buffer;
  readonly bytesParsed?: number;
}

export function refusalOfSocketError(error: SocketError, routes: Routes): Refusal {
  if (error.code === 'HPE_HEADER_OVERFLOW') return refusal('REQUEST_TOO_LARGE');
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') return refusal('REQUEST_TIMEOUT');
  const target = error.code === 'HPE_INVALID_METHOD' ? targetOfUnknownMethod(error) : undefined;
  return target === undefined ? refusal('MALFORMED_REQUEST') : refusalOfMethod(target, routes);
}

/** The refusal of CONNECT, and of methods that Node does not know. The path is checked first, as always. */
export function refusalOfMethod(target: string, routes: Routes): Refusal {
  return refusal(routes.has(splitTarget(target).path) ? 'METHOD_NOT_ALLOWED' : 'NOT_FOUND');
}

const methodByte = /[!#$%&'*+.^_`|~0-9A-Za-z-]/;
const requestLine = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+ (\S+) HTTP\/1\.[01]\r?\n/;

/** The target of a request that is correct HTTP except for its method, which Node does not know. */
function targetOfUnknownMethod({ rawPacket, bytesParsed = 0 }: SocketError): string | undefined {
  if (rawPacket === undefined) return undefined;
  let start = bytesParsed;
  while (start > 0 && methodByte.test(String.fromCharCode(rawPacket[start - 1]!))) start -= 1;
  return requestLine.exec(rawPacket.toString('latin1', start))?.[1];
}

/** A whole response, which closes its connection. */
export function responseBytes(refused: Refusal, requestId: string): string {
  const { headers, body } = errorResponse(refused);
  const all = [...commonHeaders(requestId), ...headers, 'Date', new Date().toUTCString()];
  all.push('Connection', 'close');
  const lines = [`HTTP/1.1 ${refused.status} ${STATUS_CODES[refused.status]}`];
  for (let index = 0; index < all.length; index += 2) lines.push(`${all[index]}: ${all[index + 1]}`);
  return [...lines, '', body].join('\r\n');
}

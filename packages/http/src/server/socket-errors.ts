/** Answers connections whose data does not become a request: Node hands over the socket instead. */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { httpBounds } from '@partner-network/common/bounds/http';
import { echo } from '@partner-network/common/text';
import { echoedCharacters } from '@partner-network/contract/limits';
import { methodNotAllowed, methodsOf, type Route, type Site } from '../handle.ts';
import { type Refusal, refusal } from '../refusal.ts';
import { commonHeaders, nameOfRawByte, newRequestId, splitTarget } from '../request.ts';
import { type Connections, isOver } from './connections.ts';

const { STATUS_CODES } = process.getBuiltinModule('node:http');

interface SocketError extends NodeJS.ErrnoException {
  readonly rawPacket?: Buffer;
  readonly bytesParsed?: number;
}

export function answerSocketErrors(server: Server, connections: Connections, site: Site): void {
  const ending = new WeakSet<Socket>();

  /** Closes a connection after its pending responses. Sends an error response unless one of them ends it. */
  function end(socket: Socket, refused: Refusal): void {
    ending.add(socket);
    const connection = connections.of(socket);
    const { request, response } = connection?.latest ?? {};
    const isInBody = request?.complete === false;
    // An error within a body belongs to a request that gets its one response anyway.
    const isIgnored = isInBody || (connection !== undefined && isOver(connection));
    if (isInBody && response !== undefined) {
      response.shouldKeepAlive = false;
      // Ends the wait of a route for the body. Node itself does this only when it closes the socket.
      request.aborted = true;
      request.emit('aborted');
    }
    // Node hands this socket over. From then on, an error without a listener would end the process.
    socket.on('error', () => socket.destroy());
    socket.setTimeout(httpBounds.stalledSocketMs, () => socket.destroy());
    const finish = () => {
      if (isIgnored) socket.end();
      else socket.end(refuse(refused));
      // The client may never close its side.
      setTimeout(() => socket.destroy(), httpBounds.lingerMs).unref();
    };
    if (response === undefined || response.writableFinished) finish();
    else response.once('close', finish);
  }

  function refuse(refused: Refusal): string {
    const requestId = newRequestId();
    const { status, code } = refused;
    site.requests?.count(undefined, status, code);
    site.log.info({ request_id: requestId, status, code }, 'request');
    site.onRefusal?.({ requestId, status, code });
    return responseBytes(refused, requestId);
  }

  server.on('clientError', (error: SocketError, socket: Socket) => {
    // Bytes after the last response, or after an error. They are dropped, so that the client can read.
    if (error.rawPacket !== undefined && (socket.writableEnded || ending.has(socket))) return;
    if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
    end(socket, refusalOfSocketError(error, site));
  });
  // Without this, Node would close the connection without an answer.
  server.on('connect', (request, socket: Socket) => end(socket, refusalOfMethod(request.url ?? '', site)));
}

function refusalOfSocketError(error: SocketError, site: Site): Refusal {
  if (error.code === 'HPE_HEADER_OVERFLOW') return refusal('REQUEST_TOO_LARGE');
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') return refusal('REQUEST_TIMEOUT');
  if (error.code === 'HPE_INVALID_URL') return refusalOfTarget(error, site);
  const target = error.code === 'HPE_INVALID_METHOD' ? targetOfUnknownMethod(error) : undefined;
  return target === undefined ? refusal('MALFORMED_REQUEST') : refusalOfMethod(target, site);
}

/** The refusal of CONNECT, and of methods that Node does not know. The path is checked first, as always. */
function refusalOfMethod(target: string, site: Site): Refusal {
  const route = routeOf(target, site);
  return route === undefined ? (site.notFound ?? refusal('NOT_FOUND')) : methodNotAllowed(route);
}

function routeOf(target: string, { routes }: Site): Route | undefined {
  return routes.get(splitTarget(target).path);
}

const methodByte = /[!#$%&'*+.^_`|~0-9A-Za-z-]/;
const requestLine = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+ (\S+) HTTP\/1\.[01]\r?\n/;

/** The target of a request whose method Node does not know. The rest is valid HTTP. */
function targetOfUnknownMethod({ rawPacket, bytesParsed = 0 }: SocketError): string | undefined {
  if (rawPacket === undefined) return undefined;
  let start = bytesParsed;
  while (start > 0 && methodByte.test(String.fromCharCode(rawPacket[start - 1]!))) start -= 1;
  return requestLine.exec(rawPacket.toString('latin1', start))?.[1];
}

/** The refusal of a target that Node rejects: a raw byte over 0x7F in the query has an error of its own. */
function refusalOfTarget({ rawPacket, bytesParsed = 0 }: SocketError, site: Site): Refusal {
  const text = rawPacket?.toString('latin1') ?? '';
  const start = text.lastIndexOf(' ', bytesParsed - 1) + 1;
  const target = /^\S+(?= HTTP\/1\.[01]\r?\n)/.exec(text.slice(start))?.[0] ?? '';
  const name = nameOfRawByte(splitTarget(target).query);
  if (name === undefined) return refusal('MALFORMED_REQUEST');
  const route = routeOf(target, site);
  const isAllowed = route && methodsOf(route).some((method) => text.slice(0, start).endsWith(`${method} `));
  if (!isAllowed) return refusalOfMethod(target, site);
  const field = echo(name, echoedCharacters);
  return refusal('INVALID_CHARACTER', field === '' ? { field: 'the query' } : {}, field);
}

/** A whole response, which closes its connection. */
function responseBytes({ status, headers, body }: Refusal, requestId: string): string {
  const all = [...commonHeaders(requestId), ...headers, 'Date', new Date().toUTCString()];
  all.push('Connection', 'close');
  const lines = [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`];
  for (let index = 0; index < all.length; index += 2) lines.push(`${all[index]}: ${all[index + 1]}`);
  return [...lines, '', body].join('\r\n');
}

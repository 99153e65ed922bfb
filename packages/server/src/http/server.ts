import { randomUUID } from 'node:crypto';
import { createServer, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import type { ErrorCode } from '@partner-network/contract/errors';
import { bounds } from '../bounds.ts';
import { OperatorError } from '../operator-error.ts';
import { refusal } from './refusal.ts';

/** A bounded HTTP server that answers in the one error shape also where no request comes of it. */
export function createHttpServer(): Server {
  const server = createServer({
    maxHeaderSize: bounds.requestHeadBytes,
    headersTimeout: bounds.headersTimeoutMs,
    requestTimeout: bounds.requestTimeoutMs,
    connectionsCheckingInterval: bounds.connectionsCheckMs,
    keepAliveTimeout: bounds.keepAliveMs,
    // Node would answer a missing Host with an empty body; the pipeline answers it with an error record.
    requireHostHeader: false,
  });

  // All headers are seen, so that all are counted; by default Node forgets those after the 2,000th.
  server.maxHeadersCount = 0;

  const unfinished = new WeakMap<Duplex, ServerResponse>();
  server.prependListener('request', (request, response) => unfinished.set(request.socket, response));

  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
    const bytes = rawAnswer(codeOfSocketFault(error));
    // On a pipelined connection an earlier request may still be waiting for its answer, which comes first.
    const earlier = unfinished.get(socket);
    if (earlier === undefined || earlier.writableFinished) socket.end(bytes);
    else earlier.once('close', () => socket.end(bytes));
  });

  // Without these, Node would answer 417 or nothing at all: an unknown expectation is ignored, a tunnel is
  // no path of ours.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  server.on('connect', (_request, socket: Duplex) => socket.end(rawAnswer('NOT_FOUND')));
  return server;
}

function codeOfSocketFault(error: NodeJS.ErrnoException): ErrorCode {
  if (error.code === 'HPE_HEADER_OVERFLOW') return 'REQUEST_TOO_LARGE';
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') return 'REQUEST_TIMEOUT';
  return 'MALFORMED_REQUEST';
}

/** A whole response as bytes, for a socket that has no request to respond to. */
function rawAnswer(code: ErrorCode): string {
  const { status, errors } = refusal(code);
  const body = JSON.stringify({ errors });
  return [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    `Date: ${new Date().toUTCString()}`,
    `X-Request-Id: ${randomUUID()}`,
    'X-Content-Type-Options: nosniff',
    'Cache-Control: no-store',
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
    '',
    body,
  ].join('\r\n');
}

/** Listens, and resolves to the port, which the system chooses when asked for 0. */
export function listen(server: Server, host: string, port: number, flag: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const fail = (error: NodeJS.ErrnoException) => reject(explained(error, host, port, flag));
    server.once('error', fail);
    server.listen(port, host, () => {
      server.off('error', fail);
      resolve((server.address() as AddressInfo).port);
    });
  });
}

function explained(error: NodeJS.ErrnoException, host: string, port: number, flag: string): OperatorError {
  return new OperatorError(
    error.code === 'EADDRINUSE'
      ? `Port ${port} on ${host} is taken: stop what runs there, or choose another with ${flag}.`
      : `Cannot listen on ${host} port ${port}: ${error.message}.`,
    { cause: error },
  );
}

export function addressOf(host: string, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** Takes no new connections, and resolves when the last request is answered or time is up. */
export function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    const deadline = setTimeout(() => server.closeAllConnections(), bounds.drainMs);
    // Closing ends connections that are idle now; one that is busy becomes idle later, and would stay.
    const sweep = setInterval(() => server.closeIdleConnections(), bounds.drainSweepMs);
    server.close(() => {
      clearTimeout(deadline);
      clearInterval(sweep);
      resolve();
    });
  });
}

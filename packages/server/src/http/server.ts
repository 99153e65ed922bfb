import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Logger } from 'pino';
import { bounds } from '../bounds.ts';
import { OperatorError } from '../operator-error.ts';
import { answer, type Routes } from './answer.ts';
import { headerValues } from './headers.ts';
import { answerToConnect, answerToFault } from './socket-answer.ts';

/** What is under way on one connection. */
interface Line {
  unanswered: number;
  latest: { readonly request: IncomingMessage; readonly response: ServerResponse } | undefined;
}

/** A server with bounds on all that a caller can make it wait for or keep. */
export function createHttpServer(): Server {
  const server = createServer({
    maxHeaderSize: bounds.requestHeadBytes,
    headersTimeout: bounds.headersTimeoutMs,
    requestTimeout: bounds.requestTimeoutMs,
    connectionsCheckingInterval: bounds.connectionsCheckMs,
    keepAliveTimeout: bounds.keepAliveMs,
    // Node would answer a missing Host with an empty body; ours has an error record.
    requireHostHeader: false,
  });
  // All headers are seen, so that all are counted; by default Node forgets those after the 2,000th.
  server.maxHeadersCount = 0;
  server.timeout = bounds.stalledSocketMs;
  server.maxConnections = bounds.connections;
  return server;
}

/** Lets the routes answer all that comes, in the one error shape also where no request comes of it. */
export function serveRoutes(server: Server, routes: Routes, log: Logger): void {
  const lines = new WeakMap<Duplex, Line>();

  server.on('request', (request, response) => {
    const { socket } = request;
    const line = lines.get(socket) ?? { unanswered: 0, latest: undefined };
    const earlier = line.unanswered > 0 ? line.latest?.response : undefined;
    lines.set(socket, line);
    line.latest = { request, response };
    line.unanswered += 1;
    response.once('close', () => {
      line.unanswered -= 1;
    });
    // After an offer to upgrade, which we decline by answering, Node reads no further request from a packet.
    if (headerValues(request.rawHeaders, 'upgrade').length > 0) response.shouldKeepAlive = false;

    // Pipelined requests wait for each other: a caller who sends and never reads costs one answer, not all.
    if (line.unanswered > bounds.pipelinedRequests) socket.destroy();
    else if (earlier === undefined) void answer(routes, log, request, response);
    else earlier.once('close', () => socket.destroyed || void answer(routes, log, request, response));
  });

  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
    const latest = lines.get(socket)?.latest;
    // A fault in a body belongs to a request that gets its answer anyway, and only one.
    const isOfBody = latest !== undefined && !latest.request.complete;
    endAfter(latest?.response, socket, isOfBody ? '' : answerToFault(error, routes));
  });

  // Without these, Node would answer 417 or nothing at all.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  server.on('connect', (request, socket: Duplex) => {
    endAfter(lines.get(socket)?.latest?.response, socket, answerToConnect(request.url ?? '', routes));
  });
}

/** Sends the last bytes of a connection once what is under way on it is answered, and lets go of it. */
function endAfter(earlier: ServerResponse | undefined, socket: Duplex, bytes: string): void {
  // Node does not listen any more on a socket that it handed over, and an error without a listener kills.
  socket.on('error', () => socket.destroy());
  const end = () => {
    socket.end(bytes);
    // The other side may keep its end open for ever.
    setTimeout(() => socket.destroy(), bounds.lingerMs).unref();
  };
  if (earlier === undefined || earlier.writableFinished) end();
  else earlier.once('close', end);
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

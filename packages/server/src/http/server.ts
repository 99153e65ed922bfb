import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, Server as ListenerOnly, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Logger } from 'pino';
import { bounds } from '../bounds.ts';
import { OperatorError } from '../operator-error.ts';
import { answer, type Routes } from './answer.ts';
import { headerValues } from './headers.ts';
import type { Overload } from './overload.ts';
import type { Refusal } from './refusal.ts';
import type { RequestMetrics } from './request-metrics.ts';
import { rawResponse, refusalOfMethod, refusalOfSocketFault } from './socket-answer.ts';

/** What is under way on one connection. */
interface Connection {
  unanswered: number;
  latest?: { readonly request: IncomingMessage; readonly response: ServerResponse };
}

/** Takes no new connections, and resolves when the last request is answered or time is up. */
export type Close = () => Promise<void>;

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

/** What watches over requests. Those of operators are let in when nobody else is, and not counted. */
interface Watchers {
  readonly overload?: Pick<Overload, 'begin'>;
  readonly requests?: RequestMetrics;
}

/** Lets the routes answer all that comes, in the one error shape also where no request comes of it. */
export function serveRoutes(
  server: Server,
  routes: Routes,
  log: Logger,
  { overload, requests }: Watchers = {},
): Close {
  const connections = new Map<Duplex, Connection>();
  let isClosing = false;

  server.on('connection', (socket) => {
    connections.set(socket, { unanswered: 0 });
    socket.once('close', () => connections.delete(socket));
  });

  function begin(request: IncomingMessage, response: ServerResponse): void {
    const work = () => answer(routes, log, request, response, requests);
    if (overload === undefined) void work();
    else overload.begin(response, work);
  }

  server.on('request', (request, response) => {
    const { socket } = request;
    const connection = connections.get(socket);
    if (connection === undefined) return void socket.destroy();
    const earlier = connection.unanswered > 0 ? connection.latest?.response : undefined;
    connection.latest = { request, response };
    connection.unanswered += 1;
    response.once('close', () => {
      connection.unanswered -= 1;
    });
    // After an offer to upgrade, which we decline by answering, Node reads no further request from a packet.
    const isLast = isClosing || headerValues(request.rawHeaders, 'upgrade').length > 0;
    if (isLast) response.shouldKeepAlive = false;

    // Pipelined requests wait for each other: a caller who sends and never reads costs one answer, not all.
    if (connection.unanswered > bounds.pipelinedRequests) socket.destroy();
    else if (earlier === undefined) begin(request, response);
    else earlier.once('close', () => socket.destroyed || begin(request, response));
  });

  /** Sends the last answer of a connection, if it gets one, after those before it, and lets go of it. */
  function end(socket: Socket, refused: Refusal | undefined): void {
    // Node does not watch over a socket any more that it handed over: an error without a listener kills.
    socket.on('error', () => socket.destroy());
    socket.setTimeout(bounds.stalledSocketMs, () => socket.destroy());
    afterLatest(connections.get(socket), () => {
      socket.end(refused === undefined ? '' : rawAnswer(refused, log, requests));
      // The other side may keep its end open for ever.
      setTimeout(() => socket.destroy(), bounds.lingerMs).unref();
    });
  }

  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
    // A fault in a body belongs to a request that gets its answer anyway, and only one.
    const isOfBody = connections.get(socket)?.latest?.request.complete === false;
    end(socket, isOfBody ? undefined : refusalOfSocketFault(error, routes));
  });

  // Without these, Node would answer 417 or nothing at all.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  server.on('connect', (request, socket: Socket) => end(socket, refusalOfMethod(request.url ?? '', routes)));

  return () => {
    isClosing = true;
    return closeServer(server, connections);
  };
}

/**
 * Node's own closing takes a connection for idle whose answer is not sent to its end, and one for busy that
 * never sent a byte; so this goes by what is unanswered, and closes the listener alone.
 */
function closeServer(server: Server, connections: ReadonlyMap<Duplex, Connection>): Promise<void> {
  const destroy = (isDone: (connection: Connection) => boolean) => {
    for (const [socket, connection] of connections) if (isDone(connection)) socket.destroy();
  };
  return new Promise((resolve) => {
    const deadline = setTimeout(() => destroy(() => true), bounds.drainMs);
    const sweep = setInterval(() => destroy(({ unanswered }) => unanswered === 0), bounds.drainSweepMs);
    ListenerOnly.prototype.close.call(server, () => {
      clearTimeout(deadline);
      clearInterval(sweep);
      resolve();
    });
    destroy(({ unanswered }) => unanswered === 0);
  });
}

function afterLatest(connection: Connection | undefined, work: () => void): void {
  const response = connection?.latest?.response;
  if (response === undefined || response.writableFinished) work();
  else response.once('close', work);
}

function rawAnswer(refused: Refusal, log: Logger, requests?: RequestMetrics): string {
  const { bytes, requestId } = rawResponse(refused);
  requests?.count(undefined, refused.status, refused.errors[0]?.code);
  log.info({ request_id: requestId, status: refused.status, code: refused.errors[0]?.code }, 'request');
  return bytes;
}

/** Listens, and resolves to the port, which the system chooses when asked for 0. */
export function listen(server: Server, host: string, port: number, flag: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const fail = (error: NodeJS.ErrnoException) => reject(explained(error, host, port, flag));
    server.once('error', fail);
    server.listen(port, host, () => {
      server.off('error', fail);
      resolve(portOf(server));
    });
  });
}

export function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
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

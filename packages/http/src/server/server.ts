import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { flushCompileCache } from 'node:module';
import { type AddressInfo, Server as ListenerOnly, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { httpBounds } from '@partner-network/common/bounds/http';
import { OperatorError } from '@partner-network/common/errors';
import { connectionsWithin } from '@partner-network/common/process';
import type { Logger } from 'pino';
import { answer as answerByRoute, type Site } from '../handle.ts';
import type { Overload } from '../overload.ts';
import { headerValues, isWellFormed } from '../request.ts';
import { type Connection, Connections, isOver } from './connections.ts';
import { answerSocketErrors } from './socket-errors.ts';

/**
 * A named import reads all exports of the module, also WebSocket, for which Node loads the HTTP client behind
 * `fetch`: 14 to 22 % of the start time.
 */
const { createServer } = process.getBuiltinModule('node:http');

/**
 * A server with limits on everything that a client can make it wait for or keep in memory. `bodyMs` is the
 * time for a body, if a route reads one.
 */
export function createHttpServer(bodyMs = 0): Server {
  const server = createServer({
    maxHeaderSize: httpBounds.requestHeadBytes,
    headersTimeout: httpBounds.headersTimeoutMs,
    requestTimeout: httpBounds.requestTimeoutMs + bodyMs,
    connectionsCheckingInterval: httpBounds.connectionsCheckMs,
    keepAliveTimeout: httpBounds.keepAliveMs,
    // Node would answer a missing Host with an empty body. Our response has an error record.
    requireHostHeader: false,
  });
  // Some versions of Node drop further headers, others refuse them. One more shows that there are too many.
  server.maxHeadersCount = httpBounds.requestHeaders + 1;
  server.timeout = httpBounds.stalledSocketMs + bodyMs;
  return server;
}

/**
 * Answers every request by its route. Data that is not a request gets an error response of the same form.
 * Operators' requests are not limited by overload.
 */
export function serveSite(
  server: Server,
  site: Site,
  overload?: Pick<Overload, 'begin'>,
  mostConnections = connectionsWithin(httpBounds.connections, httpBounds.clientsShare),
) {
  const { log, requests, answer = answerByRoute } = site;
  const connections = new Connections(server, mostConnections, log);
  let isDraining = false;

  function begin(socket: Socket, request: IncomingMessage, response: ServerResponse): void {
    if (socket.destroyed) return;
    const startedMs = performance.now();
    const work = async () => connections.keepUnread(socket, await answer(site, request, response, startedMs));
    if (overload === undefined) void work();
    else overload.begin(response, work, countShed);
  }

  const countShed = ({ req }: ServerResponse) => requests?.countShed(req.url ?? '');

  server.on('request', (request, response) => {
    const { socket } = request;
    const connection = connections.of(socket);
    if (connection === undefined) return void socket.destroy();
    const earlier = connection.unanswered > 0 ? connection.latest?.response : undefined;
    connections.startRequest(socket, connection);
    response.once('close', () => connections.endRequest(socket, connection));

    // Pipelined requests wait for each other: a client that sends and never reads costs one response.
    if (socket.destroyed || isOver(connection)) return;
    connection.latest = { request, response };
    connection.isEnding = isLast(request, response, connection);
    // While draining, the newest response closes the connection, not an earlier one.
    if (isDraining && earlier !== undefined) earlier.shouldKeepAlive = true;
    if (isDraining || connection.isEnding) response.shouldKeepAlive = false;
    if (earlier === undefined) begin(socket, request, response);
    else earlier.once('close', () => begin(socket, request, response));
  });

  answerSocketErrors(server, connections, site);
  // Without this, Node would answer 417.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  // Node would ask the client to send the body. The service does not need it, and answers at once.
  server.on('checkContinue', (request, response) => {
    response.shouldKeepAlive = false;
    server.emit('request', request, response);
  });
  // The kernel may fail to hand over a connection. Without a listener, that error would end the process.
  server.once('listening', () =>
    server.on('error', (err) => log.error({ err }, 'a connection cannot be accepted')),
  );

  /** From now on, each response closes its connection, so that the pools of balancers empty themselves. */
  function drain(): void {
    isDraining = true;
    for (const [, { latest }] of connections.entries()) {
      if (latest?.response.headersSent === false) latest.response.shouldKeepAlive = false;
    }
  }

  return {
    drain,
    /** The number of requests whose response is not completely sent. */
    unanswered: () => [...connections.entries()].reduce((sum, [, { unanswered }]) => sum + unanswered, 0),
    /** Stops accepting connections. Resolves when the last request is answered, or after `drainMs`. */
    close: (): Promise<void> => {
      drain();
      return closeServer(server, connections, log);
    },
    metrics: connections.metrics,
  };
}

/** Whether a connection is closed after this response, whatever the client sends after it. */
function isLast(
  request: IncomingMessage,
  { shouldKeepAlive }: ServerResponse,
  { requests }: Connection,
): boolean {
  // An answer declines an upgrade. Node then reads no further request from the same packet.
  const isUpgrade = headerValues(request.rawHeaders, 'upgrade').length > 0;
  const isLastAllowed = requests >= httpBounds.requestsPerConnection;
  return !shouldKeepAlive || isUpgrade || isLastAllowed || !isWellFormed(request);
}

/**
 * `server.close()` treats a connection with a half-sent response as idle, and a connection without a byte so
 * far as busy. So this closes the listener only, and then the connections without unanswered requests.
 */
async function closeServer(server: Server, connections: Connections, log: Logger): Promise<void> {
  const deadline = setTimeout(() => {
    const requests = destroyWhere(connections, () => true);
    log.warn({ requests }, 'requests were not answered before shutdown');
  }, httpBounds.drainMs);
  await acceptWaiting(server);
  // In the next turn of the event loop, when the requests that have arrived are read.
  const sweep = () => setImmediate(() => destroyWhere(connections, ({ unanswered }) => unanswered === 0));
  const sweeps = setInterval(sweep, httpBounds.drainSweepMs);
  sweep();
  await new Promise((resolve) => ListenerOnly.prototype.close.call(server, resolve));
  clearTimeout(deadline);
  clearInterval(sweeps);
}

/** The kernel resets connections in the accept queue, so keep accepting until one turn brings none. */
async function acceptWaiting(server: Server): Promise<void> {
  const endMs = performance.now() + httpBounds.lastAcceptsMs;
  let isAccepting = true;
  const onConnection = () => {
    isAccepting = true;
  };
  server.on('connection', onConnection);
  await nextTurn();
  while (isAccepting && performance.now() < endMs) {
    isAccepting = false;
    await nextTurn();
  }
  server.off('connection', onConnection);
}

/** Returns the number of requests that got no response. */
function destroyWhere(connections: Connections, isDone: (connection: Connection) => boolean): number {
  let unanswered = 0;
  for (const [socket, connection] of connections.entries()) {
    if (!isDone(connection)) continue;
    unanswered += connection.unanswered;
    // A response that is sent in part must not look complete to a client of HTTP/1.0.
    if (connection.unanswered > 0 && connection.latest?.response.headersSent) socket.resetAndDestroy();
    else socket.destroy();
  }
  return unanswered;
}

/** Listens. Resolves to the port: for port 0, the kernel chooses one. */
export async function listen(server: Server, host: string, port: number, flag: string): Promise<number> {
  try {
    server.listen({ port, host, backlog: httpBounds.acceptBacklog });
    await once(server, 'listening');
    // Keeps compiled code for the next start: a process that is killed would keep none.
    flushCompileCache();
  } catch (error) {
    throw new OperatorError(whyNot(error as NodeJS.ErrnoException, host, port, flag), { cause: error });
  }
  return portOf(server);
}

function whyNot(error: NodeJS.ErrnoException, host: string, port: number, flag: string): string {
  switch (error.code) {
    case 'EADDRINUSE':
      return `Port ${port} on ${host} is in use. Stop that program, or choose another port with ${flag}.`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return `This machine has no address ${host}. Choose another one with ${flag.replace('port', 'host')}.`;
    case 'EACCES':
      return `This user may not listen on port ${port}. Choose a port above 1023 with ${flag}.`;
    default:
      return `Cannot listen on ${host} port ${port}: ${error.message}.`;
  }
}

export function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}

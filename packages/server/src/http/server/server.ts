import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { type AddressInfo, Server as ListenerOnly, type Socket } from 'node:net';
import type { Logger } from 'pino';
import { httpBounds } from '../../bounds/http.ts';
import { OperatorError } from '../../lib/operator-error.ts';
import type { Metric } from '../../observability/metric.ts';
import { answer, type Routes } from '../handle.ts';
import { headerValues } from '../headers.ts';
import type { Overload } from '../overload/overload.ts';
import type { Refusal } from '../refusal.ts';
import type { RequestMetrics } from '../request-metrics.ts';
import { isWellFormed } from '../well-formed.ts';
import { type Connection, type Connections, type Room, watchConnections } from './connections.ts';
import { createServer } from './node-http.ts';
import { rawResponse, refusalOfMethod, refusalOfSocketFault } from './socket-errors.ts';

/** Takes no new connections, and resolves when the last request is answered or time is up. */
export type Close = () => Promise<void>;

interface Serving {
  /** From now on each answer is the last of its connection, so that pools of balancers empty themselves. */
  drain(): void;
  /** How many requests are under way. */
  unanswered(): number;
  readonly close: Close;
  readonly metrics: readonly Metric[];
}

/** A server with bounds on all that a caller can make it wait for or keep. */
export function createHttpServer(): Server {
  const server = createServer({
    maxHeaderSize: httpBounds.requestHeadBytes,
    headersTimeout: httpBounds.headersTimeoutMs,
    requestTimeout: httpBounds.requestTimeoutMs,
    connectionsCheckingInterval: httpBounds.connectionsCheckMs,
    keepAliveTimeout: httpBounds.keepAliveMs,
    // Node would answer a missing Host with an empty body; ours has an error record.
    requireHostHeader: false,
  });
  // All headers are seen, so that all are counted; by default Node forgets those after the 2,000th.
  server.maxHeadersCount = 0;
  server.timeout = httpBounds.stalledSocketMs;
  return server;
}

/** What is kept an eye on. Requests of operators are let in when nobody else is, and not counted. */
interface Watch {
  readonly room: Room;
  readonly overload?: Pick<Overload, 'begin'> | undefined;
  readonly requests?: RequestMetrics;
}

/** Lets the routes answer all that comes, in the one error shape also where no request comes of it. */
export function serveRoutes(
  server: Server,
  routes: Routes,
  log: Logger,
  { room, overload, requests }: Watch,
): Serving {
  const connections = watchConnections(server, room, log);
  let isDraining = false;

  function begin(socket: Socket, request: IncomingMessage, response: ServerResponse): void {
    if (socket.destroyed) return;
    const startedMs = performance.now();
    const work = async () =>
      connections.answered(socket, await answer(routes, log, request, response, startedMs, requests));
    if (overload === undefined) void work();
    else overload.begin(response, work, countTurnedAway);
  }

  const countTurnedAway = ({ req }: ServerResponse) => requests?.countTurnedAway(req.url ?? '');

  server.on('request', (request, response) => {
    const { socket } = request;
    const connection = connections.of(socket);
    if (connection === undefined) return void socket.destroy();
    const earlier = connection.unanswered > 0 ? connection.latest?.response : undefined;
    connections.begin(socket, connection);
    response.once('close', () => connections.settle(socket, connection));

    // Pipelined requests wait for each other: a caller who sends and never reads costs one answer, not all.
    if (socket.destroyed || isOver(connection)) return;
    connection.latest = { request, response };
    connection.isEnding = isLast(request, response, connection);
    if (isDraining && earlier !== undefined) earlier.shouldKeepAlive = true;
    if (isDraining || connection.isEnding) response.shouldKeepAlive = false;
    if (earlier === undefined) begin(socket, request, response);
    else earlier.once('close', () => begin(socket, request, response));
  });

  /** Sends the last answer of a connection, if it gets one, after those before it, and lets go of it. */
  function end(socket: Socket, refused: Refusal | undefined): void {
    // Node does not watch over a socket any more that it handed over: an error without a listener kills.
    socket.on('error', () => socket.destroy());
    socket.setTimeout(httpBounds.stalledSocketMs, () => socket.destroy());
    afterLatest(connections.of(socket), () => {
      socket.end(refused === undefined ? '' : rawAnswer(refused, log, requests));
      // The other side may keep its end open for ever.
      setTimeout(() => socket.destroy(), httpBounds.lingerMs).unref();
    });
  }

  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
    // A fault in a body belongs to a request that gets its answer anyway, and only one.
    const connection = connections.of(socket);
    const isOfBody = connection?.latest?.request.complete === false;
    const isUnheard = isOfBody || (connection !== undefined && isOver(connection));
    end(socket, isUnheard ? undefined : refusalOfSocketFault(error, routes));
  });

  // Without these, Node would answer 417 or nothing at all.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  server.on('connect', (request, socket: Socket) => {
    const connection = connections.of(socket);
    const isUnheard = connection !== undefined && isOver(connection);
    end(socket, isUnheard ? undefined : refusalOfMethod(request.url ?? '', routes));
  });
  // Node would ask for the body, which is of no use here: the caller is answered, and need not send it.
  server.on('checkContinue', (request, response) => {
    response.shouldKeepAlive = false;
    server.emit('request', request, response);
  });
  // A connection that the system cannot give us is no reason to end: without a listener, it would be.
  server.once('listening', () => server.on('error', (err) => log.error({ err }, 'cannot accept')));

  function drain(): void {
    isDraining = true;
    for (const [, { latest }] of connections.entries()) {
      if (latest?.response.headersSent === false) latest.response.shouldKeepAlive = false;
    }
  }

  return {
    drain,
    unanswered: () => {
      let count = 0;
      for (const [, { unanswered }] of connections.entries()) count += unanswered;
      return count;
    },
    close: () => {
      drain();
      return closeServer(server, connections, log);
    },
    metrics: connections.metrics,
  };
}

/** Whether a connection is closed after this answer, whatever comes behind it. */
function isLast(
  request: IncomingMessage,
  { shouldKeepAlive }: ServerResponse,
  { requests }: Connection,
): boolean {
  // After an offer to upgrade, which we decline by answering, Node reads no further request from a packet.
  const isOffer = headerValues(request.rawHeaders, 'upgrade').length > 0;
  const isDoubtful = !isWellFormed(request);
  return !shouldKeepAlive || isOffer || isDoubtful || requests >= httpBounds.requestsOfConnection;
}

/** Whether its last answer is on its way, or will be: what comes behind it is not heard. */
function isOver({ isEnding, latest }: Connection): boolean {
  return isEnding || (latest?.response.headersSent === true && !latest.response.shouldKeepAlive);
}

/**
 * Node's own closing takes a connection for idle whose answer is not sent to its end, and one for busy that
 * never sent a byte; so this goes by what is unanswered, and closes the listener alone.
 */
function closeServer(server: Server, connections: Connections, log: Logger): Promise<void> {
  // After what has arrived was read: a request that is here already is not lost.
  const sweep = () => setImmediate(() => destroyWhere(connections, ({ unanswered }) => unanswered === 0));
  return new Promise((resolve) => {
    const deadline = setTimeout(() => {
      const requests = destroyWhere(connections, () => true);
      log.warn({ requests }, 'requests were given up that were still under way');
    }, httpBounds.drainMs);
    acceptWaiting(server, () => {
      const sweeps = setInterval(sweep, httpBounds.drainSweepMs);
      ListenerOnly.prototype.close.call(server, () => {
        clearTimeout(deadline);
        clearInterval(sweeps);
        resolve();
      });
      sweep();
    });
  });
}

/** The system resets those whom nobody accepted: so first there must be a turn that brings no connection. */
function acceptWaiting(server: Server, close: () => void): void {
  const endMs = performance.now() + httpBounds.lastAcceptsMs;
  let isAccepting = true;
  const note = () => {
    isAccepting = true;
  };
  function look(): void {
    if (isAccepting && performance.now() < endMs) {
      isAccepting = false;
      return void setImmediate(look);
    }
    server.off('connection', note);
    close();
  }
  server.on('connection', note);
  setImmediate(look);
}

/** Tells how many requests went without an answer. */
function destroyWhere(connections: Connections, isDone: (connection: Connection) => boolean): number {
  let unanswered = 0;
  for (const [socket, connection] of connections.entries()) {
    if (!isDone(connection)) continue;
    unanswered += connection.unanswered;
    socket.destroy();
  }
  return unanswered;
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
    server.listen({ port, host, backlog: httpBounds.acceptBacklog }, () => {
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

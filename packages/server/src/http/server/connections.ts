/** Who is connected, what is under way there, and who has to go when there are too many. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Logger } from 'pino';
import { httpBounds } from '../../bounds/http.ts';
import { type Metric, metricByLabel, singleMetric } from '../../observability/metric.ts';

/** What is under way on one connection. */
export interface Connection {
  /** How many requests came on it so far, and how many of them wait for their answer to be sent. */
  requests: number;
  unanswered: number;
  /** Nothing that comes after its latest request is answered. */
  isEnding: boolean;
  latest?: { readonly request: IncomingMessage; readonly response: ServerResponse };
}

/** What all connections together may take. */
export interface Room {
  readonly connections: number;
  /** Text of answers that callers have asked for, and do not read. */
  readonly unreadCharacters: number;
}

export interface Connections {
  readonly metrics: readonly Metric[];
  of(socket: Socket): Connection | undefined;
  entries(): Iterable<[Socket, Connection]>;
  /** A request has come; one that is too many of those sent ahead closes its connection. */
  begin(socket: Socket, connection: Connection): void;
  /** An answer was given, of which so much text is kept until the caller has read it. */
  answered(socket: Socket, characters: number): void;
  /** An answer was sent to its end, or its connection is gone. */
  settle(socket: Socket, connection: Connection): void;
}

type Reason = 'silent' | 'idle' | 'refused' | 'unread' | 'ahead';

/**
 * When all places are taken, a new caller gets the one of who has been there longest without ever sending a
 * whole request, or else of who has been idle longest, or else of who has been reading an answer longest:
 * holding connections open locks nobody out. Only where all wait for an answer is the new one closed.
 */
export function watchConnections(server: Server, room: Room, log: Logger): Connections {
  const all = new Map<Socket, Connection>();
  // Sets keep the order in which things came: the first one has waited longest.
  const silent = new Set<Socket>();
  const idle = new Set<Socket>();
  // Those who have not read all of their answer, with the text that is kept for it: none for a file.
  const unread = new Map<Socket, number>();
  const closed: Record<Reason, number> = { silent: 0, idle: 0, refused: 0, unread: 0, ahead: 0 };
  let unreadCharacters = 0;
  let requestsAhead = 0;
  let toldMs = Number.NEGATIVE_INFINITY;

  server.on('connection', (socket) => {
    if (all.size >= room.connections) makeRoom(socket);
    if (socket.destroyed) return;
    all.set(socket, { requests: 0, unanswered: 0, isEnding: false });
    silent.add(socket);
    socket.once('close', () => forget(socket));
  });

  function makeRoom(newcomer: Socket): void {
    const [stranger] = silent;
    const [sleeper] = idle;
    const [reader] = unread.keys();
    if (stranger !== undefined) close(stranger, 'silent');
    else if (sleeper !== undefined) close(sleeper, 'idle');
    else if (reader !== undefined) close(reader, 'unread');
    else close(newcomer, 'refused');
  }

  function close(socket: Socket, reason: Reason): void {
    closed[reason] += 1;
    tell();
    forget(socket);
    socket.destroy();
  }

  /** Whoever floods us does not get to flood the log. */
  function tell(): void {
    if (performance.now() - toldMs < httpBounds.connectionsTellMs) return;
    toldMs = performance.now();
    log.warn(
      { connections: all.size, closed: { ...closed } },
      'too many connections, answers unread, or requests sent ahead',
    );
  }

  function forget(socket: Socket): void {
    requestsAhead -= aheadOn(all.get(socket));
    all.delete(socket);
    silent.delete(socket);
    idle.delete(socket);
    take(socket);
  }

  function take(socket: Socket): void {
    unreadCharacters -= unread.get(socket) ?? 0;
    unread.delete(socket);
  }

  return {
    metrics: metricsOf(all, room, closed),
    of: (socket) => all.get(socket),
    entries: () => all.entries(),
    begin(socket, connection) {
      connection.requests += 1;
      connection.unanswered += 1;
      silent.delete(socket);
      idle.delete(socket);
      if (connection.unanswered > 1) requestsAhead += 1;
      const isTooMany = connection.unanswered > httpBounds.pipelinedRequests;
      if (isTooMany || requestsAhead > httpBounds.requestsAhead) close(socket, 'ahead');
    },
    answered(socket, characters) {
      if (socket.destroyed || socket.writableLength === 0) return;
      // One that was given at once is told of after its end: the next on its connection may be on its way.
      take(socket);
      unread.set(socket, characters);
      unreadCharacters += characters;
      for (const [reader, kept] of unread) {
        // The newest alone may be as large as a page can get.
        if (unreadCharacters <= room.unreadCharacters || reader === socket) break;
        if (kept > 0) close(reader, 'unread');
      }
    },
    settle(socket, connection) {
      connection.unanswered -= 1;
      take(socket);
      if (!all.has(socket)) return;
      if (connection.unanswered === 0) idle.add(socket);
      else requestsAhead -= 1;
    },
  };
}

/** Those that wait for the answer to another on their connection. */
function aheadOn(connection: Connection | undefined): number {
  return Math.max(0, (connection?.unanswered ?? 0) - 1);
}

function metricsOf(
  all: ReadonlyMap<Socket, Connection>,
  room: Room,
  closed: Readonly<Record<Reason, number>>,
): readonly Metric[] {
  return [
    singleMetric(
      'partner_network_connections',
      'gauge',
      'Connections of callers that are open.',
      () => all.size,
    ),
    singleMetric(
      'partner_network_connections_limit',
      'gauge',
      'How many connections of callers may be open.',
      () => room.connections,
    ),
    metricByLabel(
      'partner_network_connections_closed_total',
      'counter',
      'Connections closed to make room: silent, idle, refused, unread answers, requests sent ahead.',
      'reason',
      () => closed,
    ),
  ];
}

/** All open connections: what happens on each, and which one is closed when there are too many. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { httpBounds } from '@partner-network/common/bounds/http';
import { metric } from '@partner-network/common/observability/metric';
import type { Logger } from 'pino';

export interface Connection {
  /** The number of requests so far, and of those whose response is not completely sent. */
  requests: number;
  unanswered: number;
  /** The latest request is the last one: whatever follows it is ignored. */
  isEnding: boolean;
  latest?: { readonly request: IncomingMessage; readonly response: ServerResponse };
}

/** Whether the last response of a connection is sent or due: whatever follows it is ignored. */
export function isOver({ isEnding, latest }: Connection): boolean {
  return isEnding || (latest?.response.headersSent === true && !latest.response.shouldKeepAlive);
}

/** What all connections together may use. */
export interface Room {
  readonly connections: number;
  /** Characters of responses that clients asked for and have not read. */
  readonly unreadCharacters: number;
}

export type Connections = ReturnType<typeof watchConnections>;

type Reason = 'silent' | 'idle' | 'refused' | 'unread' | 'ahead';

/**
 * At the limit, a new connection replaces another, so that holding connections open locks nobody out. The
 * first of these is closed: the oldest that never sent a whole request, the longest idle, the longest reading
 * a response. If all connections wait for a response, the new connection is closed.
 */
export function watchConnections(server: Server, room: Room, log: Logger) {
  const all = new Map<Socket, Connection>();
  // Sets and maps keep insertion order: their first entry is the oldest.
  const silent = new Set<Socket>();
  const idle = new Set<Socket>();
  /** Connections with a partly read response, and the characters that are kept for it: 0 for a file. */
  const unread = new Map<Socket, number>();
  const closed: Record<Reason, number> = { silent: 0, idle: 0, refused: 0, unread: 0, ahead: 0 };
  let unreadCharacters = 0;
  let requestsAhead = 0;
  let loggedMs = Number.NEGATIVE_INFINITY;

  server.on('connection', (socket) => {
    if (all.size >= room.connections) makeRoom(socket);
    if (socket.destroyed) return;
    all.set(socket, { requests: 0, unanswered: 0, isEnding: false });
    silent.add(socket);
    socket.once('close', () => forget(socket));
  });

  function makeRoom(newcomer: Socket): void {
    const [oldestSilent] = silent;
    const [oldestIdle] = idle;
    const [oldestUnread] = unread.keys();
    if (oldestSilent !== undefined) close(oldestSilent, 'silent');
    else if (oldestIdle !== undefined) close(oldestIdle, 'idle');
    else if (oldestUnread !== undefined) close(oldestUnread, 'unread');
    else close(newcomer, 'refused');
  }

  function close(socket: Socket, reason: Reason): void {
    closed[reason] += 1;
    logClosed();
    forget(socket);
    socket.destroy();
  }

  /** Logs once in `connectionsLogMs`, so that a flood of connections does not flood the log. */
  function logClosed(): void {
    if (performance.now() - loggedMs < httpBounds.connectionsLogMs) return;
    loggedMs = performance.now();
    log.warn(
      { connections: all.size, closed: { ...closed } },
      'connections were closed to stay within the limits',
    );
  }

  function forget(socket: Socket): void {
    requestsAhead -= Math.max(0, (all.get(socket)?.unanswered ?? 0) - 1);
    all.delete(socket);
    silent.delete(socket);
    idle.delete(socket);
    forgetUnread(socket);
  }

  function forgetUnread(socket: Socket): void {
    unreadCharacters -= unread.get(socket) ?? 0;
    unread.delete(socket);
  }

  return {
    metrics: [
      metric('partner_network_connections', () => all.size),
      metric('partner_network_connections_limit', () => room.connections),
      metric('partner_network_connections_closed_total', () => closed),
    ],
    of: (socket: Socket) => all.get(socket),
    entries: () => all.entries(),

    /** Counts a new request. Closes the connection if too many requests were sent ahead. */
    startRequest(socket: Socket, connection: Connection): void {
      connection.requests += 1;
      connection.unanswered += 1;
      silent.delete(socket);
      idle.delete(socket);
      if (connection.unanswered > 1) requestsAhead += 1;
      const isTooMany = connection.unanswered > httpBounds.pipelinedRequests;
      if (isTooMany || requestsAhead > httpBounds.requestsAhead) close(socket, 'ahead');
    },

    /** Counts the text of a response that stays in memory until the client has read it. */
    keepUnread(socket: Socket, characters: number): void {
      if (socket.destroyed || socket.writableLength === 0) return;
      // A response that was sent at once is counted after its end: the next one may be counted already.
      forgetUnread(socket);
      unread.set(socket, characters);
      unreadCharacters += characters;
      for (const [reader, kept] of unread) {
        // The newest response alone may be as large as a page can get.
        if (unreadCharacters <= room.unreadCharacters || reader === socket) break;
        if (kept > 0) close(reader, 'unread');
      }
    },

    /** Counts a request whose response is completely sent, or whose connection is closed. */
    endRequest(socket: Socket, connection: Connection): void {
      connection.unanswered -= 1;
      forgetUnread(socket);
      if (!all.has(socket)) return;
      if (connection.unanswered === 0) idle.add(socket);
      else requestsAhead -= 1;
    },
  };
}

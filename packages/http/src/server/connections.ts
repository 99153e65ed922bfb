/** All open connections: what happens on each, and which one is closed when there are too many. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { httpBounds } from '@partner-network/common/bounds/http';
import { createFailureLog } from '@partner-network/common/observability/log';
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

/**
 * Closes a connection after its last response and after the body of its last request. Node would close it at
 * once. Then the kernel answers the rest of the body with a reset, and a client that sends its whole body
 * before it reads never sees the response. Node drops the rest, until the request timeout.
 */
function closeAfterBody(socket: Socket, { latest }: Connection): void {
  const close = () => Socket.prototype.destroySoon.call(socket);
  if (latest?.request.complete !== false) return void close();
  socket.end();
  socket.setTimeout(httpBounds.stalledSocketMs);
  const mostBytes = socket.bytesRead + httpBounds.lingerBytes;
  socket.on('data', () => {
    if (latest.request.complete) close();
    else if (socket.bytesRead > mostBytes) socket.destroy();
  });
}

type Reason = 'silent' | 'idle' | 'refused' | 'unread' | 'ahead';

/**
 * At the limit, a new connection replaces another, so that holding connections open locks nobody out. The
 * first of these is closed: the oldest that never sent a whole request, the longest idle, the longest reading
 * a response. If all connections wait for a response, the new connection is closed.
 */
export class Connections {
  readonly metrics = [
    metric('partner_network_connections', () => this.#all.size),
    metric('partner_network_connections_limit', () => this.#mostConnections),
    metric('partner_network_connections_closed_total', () => this.#closed),
  ];

  readonly #mostConnections: number;
  readonly #log: Logger;
  /** A flood of connections must not flood the log. */
  readonly #closures = createFailureLog({ remindMs: httpBounds.connectionsLogMs });
  readonly #all = new Map<Socket, Connection>();
  // Sets and maps keep insertion order: their first entry is the oldest.
  readonly #silent = new Set<Socket>();
  readonly #idle = new Set<Socket>();
  /** Connections with a partly read response, and the characters that are kept for it: 0 for a file. */
  readonly #unread = new Map<Socket, number>();
  readonly #closed: Record<Reason, number> = { silent: 0, idle: 0, refused: 0, unread: 0, ahead: 0 };
  #unreadCharacters = 0;
  #requestsAhead = 0;

  constructor(server: Server, mostConnections: number, log: Logger) {
    this.#mostConnections = mostConnections;
    this.#log = log;
    server.on('connection', (socket) => this.#open(socket));
  }

  of(socket: Socket): Connection | undefined {
    return this.#all.get(socket);
  }

  entries(): Iterable<[Socket, Connection]> {
    return this.#all.entries();
  }

  /** Counts a new request. Closes the connection if too many requests were sent ahead. */
  startRequest(socket: Socket, connection: Connection): void {
    connection.requests += 1;
    connection.unanswered += 1;
    this.#silent.delete(socket);
    this.#idle.delete(socket);
    if (connection.unanswered > 1) this.#requestsAhead += 1;
    const isTooMany = connection.unanswered > httpBounds.pipelinedRequests;
    if (isTooMany || this.#requestsAhead > httpBounds.requestsAhead) this.#close(socket, 'ahead');
  }

  /** Counts the text of a response that stays in memory until the client has read it. */
  keepUnread(socket: Socket, characters: number): void {
    if (socket.destroyed || socket.writableLength === 0) return;
    // A response that was sent at once is counted after its end: the next one may be counted already.
    this.#forgetUnread(socket);
    this.#unread.set(socket, characters);
    this.#unreadCharacters += characters;
    for (const [reader, kept] of this.#unread) {
      // The newest response alone may be as large as a page can get.
      if (this.#unreadCharacters <= httpBounds.unreadCharacters || reader === socket) break;
      if (kept > 0) this.#close(reader, 'unread');
    }
  }

  /** Counts a request whose response is completely sent, or whose connection is closed. */
  endRequest(socket: Socket, connection: Connection): void {
    connection.unanswered -= 1;
    this.#forgetUnread(socket);
    if (!this.#all.has(socket)) return;
    if (connection.unanswered === 0) this.#idle.add(socket);
    else this.#requestsAhead -= 1;
  }

  #open(socket: Socket): void {
    if (this.#all.size >= this.#mostConnections) this.#makeRoom(socket);
    if (socket.destroyed) return;
    const connection: Connection = { requests: 0, unanswered: 0, isEnding: false };
    this.#all.set(socket, connection);
    // Node calls this after the last response.
    socket.destroySoon = () => closeAfterBody(socket, connection);
    this.#silent.add(socket);
    socket.once('close', () => this.#forget(socket));
  }

  #makeRoom(newcomer: Socket): void {
    const [silent] = this.#silent;
    const [idle] = this.#idle;
    const [unread] = this.#unread.keys();
    if (silent !== undefined) this.#close(silent, 'silent');
    else if (idle !== undefined) this.#close(idle, 'idle');
    else if (unread !== undefined) this.#close(unread, 'unread');
    else this.#close(newcomer, 'refused');
  }

  #close(socket: Socket, reason: Reason): void {
    this.#closed[reason] += 1;
    this.#closures.failed(() => {
      const fields = { connections: this.#all.size, closed: { ...this.#closed } };
      this.#log.warn(fields, 'connections were closed to stay within the limits');
    });
    this.#forget(socket);
    socket.destroy();
  }

  #forget(socket: Socket): void {
    this.#requestsAhead -= Math.max(0, (this.#all.get(socket)?.unanswered ?? 0) - 1);
    this.#all.delete(socket);
    this.#silent.delete(socket);
    this.#idle.delete(socket);
    this.#forgetUnread(socket);
  }

  #forgetUnread(socket: Socket): void {
    this.#unreadCharacters -= this.#unread.get(socket) ?? 0;
    this.#unread.delete(socket);
  }
}

/** The other address that a redirect leads to. It has no data, and sees whether a client sends its key there. */
import type { IncomingMessage, Server } from 'node:http';
import type { Logger } from 'pino';
import { answer } from '../http/handle.ts';
import { addressOf, createHttpServer, listen, serveRoutes } from '../http/server/server.ts';
import type { RehearsalsBounds } from './bounds.ts';

/** It listens on this machine only, from the first redirect on. Every path is unknown there. */
export function createWatchedOrigin(
  bounds: RehearsalsBounds,
  log: Logger,
  onRequest: (watchId: string, request: IncomingMessage) => void,
) {
  const host = '127.0.0.1';
  let opened: Promise<{ readonly url: string; close(): Promise<void> }> | undefined;

  async function open(server: Server) {
    const room = { connections: bounds.watchedConnections, unreadCharacters: Number.POSITIVE_INFINITY };
    const { close } = serveRoutes(server, new Map(), log, {
      room,
      answer: (routes, ownLog, request, response, startedMs) => {
        onRequest(/^\/([0-9a-f-]{36})\//.exec(request.url ?? '')?.[1] ?? '', request);
        return answer(routes, ownLog, request, response, startedMs);
      },
    });
    const port = await listen(server, host, 0, '--port');
    return { url: addressOf(host, port), close };
  }

  return {
    url: async (): Promise<string> => {
      opened ??= open(createHttpServer());
      return (await opened).url;
    },
    close: async (): Promise<void> => (await opened)?.close(),
  };
}

import type { IncomingMessage } from 'node:http';
import type { Logger } from 'pino';
import { answer } from '../http/handle.ts';
import { addressOf, createHttpServer, listen, portOf, serveRoutes } from '../http/server/server.ts';
import { rehearsalsBounds } from './bounds.ts';

/**
 * The other address of the redirect, which sees whether a client sends its key there. It listens on this
 * machine only, from the first redirect on. It has no data: every path is unknown.
 */
export function createWatchedOrigin(
  log: Logger,
  onRequest: (request: IncomingMessage, origin: string) => void,
) {
  const host = '127.0.0.1';
  let isClosed = false;
  let opened: Promise<{ readonly origin: string; close(): Promise<void> }> | undefined;

  async function open() {
    const server = createHttpServer();
    const { close } = serveRoutes(server, new Map(), log, {
      room: { connections: rehearsalsBounds.watchedConnections, unreadCharacters: Number.POSITIVE_INFINITY },
      answer: (routes, ownLog, request, response, startedMs) => {
        onRequest(request, addressOf(host, portOf(server)));
        return answer(routes, ownLog, request, response, startedMs);
      },
    });
    await listen(server, host, 0, '--port');
    return { origin: addressOf(host, portOf(server)), close };
  }

  return {
    origin: async () => {
      // A request that is answered during a stop must not open it again.
      if (isClosed) throw new Error('The sandbox is stopping.');
      opened ??= open();
      return (await opened).origin;
    },
    close: async () => {
      isClosed = true;
      await (await opened)?.close();
    },
  };
}

import type { RequestListener, ServerResponse } from 'node:http';
import { addressOf, createHttpServer, listen } from '../http/server/server.ts';
import type { Response } from './run.ts';

/** Responses that break off. */
export function createCuts(stallMs: number) {
  const open = new Set<ServerResponse>();
  let isStopped = false;

  return {
    /** Sends a part of a response. `onClosed` learns whether the client left the connection open. */
    send(response: ServerResponse, { cut, body }: Response, onClosed: (isTooLate: boolean) => void): void {
      const close = (isTooLate: boolean) => {
        clearTimeout(timer);
        // First: the client's next request can come before the event `close`.
        if (open.delete(response)) onClosed(isTooLate);
        response.destroy();
      };
      const timer = setTimeout(close, stallMs, true);
      open.add(response);
      response.once('close', () => close(false));
      // The server would close a silent connection earlier.
      response.setTimeout(0);
      const bytes = Buffer.from(body as string);
      if (cut === 'torn') response.write(bytes.subarray(0, bytes.length / 2), () => close(false));
      else response.flushHeaders();
      if (isStopped || response.destroyed) close(false);
    },

    /** Closes all connections, also later ones: a stop of the service would wait for their responses. */
    stop(): void {
      isStopped = true;
      for (const response of open) response.destroy();
    },
  };
}

/** The other address of the redirect, on this machine. It sees whether a client sends its key there. */
export async function openWatchedOrigin(onRequest: RequestListener) {
  const host = '127.0.0.1';
  const server = createHttpServer().on('request', onRequest);
  const origin = addressOf(host, await listen(server, host, 0, '--port'));
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { origin, close };
}

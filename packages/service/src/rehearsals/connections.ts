import type { RequestListener, ServerResponse } from 'node:http';
import { addressOf, createHttpServer, listen } from '@partner-network/http/server/server';
import { rehearsalsBounds } from './bounds.ts';
import type { Response } from './runs.ts';

/** Responses that are stalled, oldest first. They occupy connections that other clients need. */
const stalled = new Set<ServerResponse>();

/** Sends a part of a response. Its connection is closed at once if it is torn, or else by the signal. */
export function cutOff(
  response: ServerResponse,
  { cut, body }: Response,
  signal: AbortSignal,
  onClosed: () => void,
): void {
  const close = () => {
    if (response.destroyed) return;
    // First: the client's next request can come before the event `close`.
    onClosed();
    response.destroy();
  };
  response.once('close', () => {
    stalled.delete(response);
    onClosed();
  });
  signal.addEventListener('abort', close);
  // The server would close a silent connection earlier.
  response.setTimeout(0);
  const bytes = Buffer.from(body as string);
  if (cut === 'torn') response.write(bytes.subarray(0, bytes.length / 2), close);
  else {
    response.flushHeaders();
    const [oldest] = stalled.add(response);
    if (stalled.size > rehearsalsBounds.stalls) oldest?.destroy();
  }
  if (signal.aborted) close();
}

/** The other address of the redirect, on this machine. It sees whether a client sends its key there. */
export async function openWatchedOrigin(onRequest: RequestListener) {
  const host = '127.0.0.1';
  const server = createHttpServer().on('request', onRequest);
  const origin = addressOf(host, await listen(server, host, 0, '--port'));
  // A start that fails after this must end the process.
  server.unref();
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { origin, close };
}

import type { ServerResponse } from 'node:http';
import { rehearsalsBounds } from './bounds.ts';
import type { SentResponse } from './runs.ts';

/** Responses that are stalled, oldest first. They occupy connections that other clients need. */
const stalled = new Set<ServerResponse>();

/**
 * Sends a part of a response. Its connection is closed at once if it is torn, or else after `stallMs` or when
 * the service stops. `isTooLate` says that the client did not close it before `stallMs`.
 */
export function cutOff(
  response: ServerResponse,
  { cut, body }: SentResponse,
  { stallMs, stopping }: { readonly stallMs: number; readonly stopping: AbortSignal },
  onClosed: (isTooLate: boolean) => void,
): void {
  const late = AbortSignal.timeout(stallMs);
  const signal = AbortSignal.any([late, stopping]);
  const close = () => {
    if (response.destroyed) return;
    // First: the client's next request can come before the event `close`.
    onClosed(late.aborted);
    response.destroy();
  };
  response.once('close', () => {
    stalled.delete(response);
    onClosed(late.aborted);
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

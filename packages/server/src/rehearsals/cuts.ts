/** Responses that break off. */
import type { ServerResponse } from 'node:http';
import type { RehearsalsBounds } from './bounds.ts';
import type { Response } from './faults.ts';

export function createCuts({ stallMs, stalls }: RehearsalsBounds) {
  /** Connections that are not closed yet, oldest first. */
  const open = new Set<ServerResponse>();
  let isStopped = false;

  return {
    /** Sends a part of a response. `onClosed` learns whether the client left the connection open. */
    send(response: ServerResponse, { cut, body }: Response, onClosed: (isTooLate: boolean) => void): void {
      let isTooLate = false;
      const timer = setTimeout(() => {
        isTooLate = true;
        response.destroy();
      }, stallMs);
      const finish = () => {
        clearTimeout(timer);
        if (open.delete(response)) onClosed(isTooLate);
      };
      open.add(response);
      if (response.destroyed) finish();
      else response.once('close', finish);
      // The server would close a silent connection earlier.
      response.setTimeout(0);
      const bytes = Buffer.from(body as string);
      const tear = () => {
        // First: the client's next request can come before the event `close`.
        finish();
        response.destroy();
      };
      if (cut === 'torn') response.write(bytes.subarray(0, bytes.length / 2), tear);
      else response.flushHeaders();
      const [oldest] = open;
      if (isStopped || open.size > stalls) oldest?.destroy();
    },

    /** Closes all connections: a stop of the service would wait for their responses. */
    stop(): void {
      isStopped = true;
      for (const response of open) response.destroy();
    },
  };
}

import { connect, createServer, type Socket } from 'node:net';
import type { TestContext } from 'node:test';
import { listenOnAnyPort } from './free-port.ts';

/** Starts a TCP proxy in front of a server. It can delay and drop data. */
export async function startProxy(t: TestContext, targetPort: number) {
  const sockets = new Set<Socket>();
  const swallowed = new Set<Socket>();
  const sent: Buffer[][] = [];
  let delayMs = 0;
  let requests = 0;

  function pass(from: Socket, to: Socket, onData: () => void): void {
    from.on('data', (bytes) => {
      onData();
      if (!swallowed.has(from)) setTimeout(() => to.destroyed || to.write(bytes), delayMs);
    });
    from.on('error', () => {});
    from.on('close', () => {
      sockets.delete(from);
      to.destroy();
    });
  }

  const server = createServer((near) => {
    const far = connect(targetPort, '127.0.0.1');
    for (const socket of [near, far]) sockets.add(socket.setNoDelay(true));
    const chunks: Buffer[] = [];
    sent.push(chunks);
    near.on('data', (chunk) => chunks.push(chunk));
    let isAnswered = true;
    pass(near, far, () => {
      if (isAnswered) requests += 1;
      isAnswered = false;
    });
    pass(far, near, () => {
      isAnswered = true;
    });
  });
  return {
    port: await listenOnAnyPort(t, server),
    /** Delays all data by this time. */
    delay: (ms: number) => {
      delayMs = ms;
    },
    /** Open connections stay open, but pass no data any more. */
    swallow: () => {
      for (const socket of sockets) swallowed.add(socket);
    },
    /** The number of requests. A request is data for the server, at first or after an answer. */
    requests: () => requests,
    /** The data that each connection has sent to the server, in the order of opening. */
    sent: () => sent.map((chunks) => Buffer.concat(chunks)),
  };
}

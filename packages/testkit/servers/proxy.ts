import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import type { TestContext } from 'node:test';

/** A way to a server on which things can go wrong. */
interface Proxy {
  readonly port: number;
  /** From now on everything takes this much longer. */
  delay(ms: number): void;
  /** The connections that are open now stay open, and nothing comes through them any more. */
  swallow(): void;
  /** How often a server was asked anew, after it had answered or at first. */
  questions(): number;
  /** What each connection has sent to the server so far, in the order in which they were opened. */
  sent(): readonly Buffer[];
}

export async function startProxy(t: TestContext, targetPort: number): Promise<Proxy> {
  const sockets = new Set<Socket>();
  const swallowed = new Set<Socket>();
  const sent: Buffer[][] = [];
  let delayMs = 0;
  let questions = 0;

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
      if (isAnswered) questions += 1;
      isAnswered = false;
    });
    pass(far, near, () => {
      isAnswered = true;
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return {
    port: (server.address() as AddressInfo).port,
    delay: (ms) => {
      delayMs = ms;
    },
    swallow: () => {
      for (const socket of sockets) swallowed.add(socket);
    },
    questions: () => questions,
    sent: () => sent.map((chunks) => Buffer.concat(chunks)),
  };
}

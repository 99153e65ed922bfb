/** Ports of this machine for servers of tests. */
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import type { Lifetime } from '../fixtures/lifetime.ts';

/** A port below the range of outgoing connections, so that it stays free while its server is down. */
export async function freePort(): Promise<number> {
  while (true) {
    const port = randomInt(12_000, 32_000);
    const probe = createServer().listen(port, '127.0.0.1');
    const isFree = await once(probe, 'listening').then(
      () => true,
      () => false,
    );
    if (!isFree) continue;
    probe.close();
    await once(probe, 'close');
    return port;
  }
}

/**
 * Makes a server listen until the end of the test, and then closes its connections. Resolves to its port,
 * which the system chooses.
 */
export async function listenOnAnyPort(t: Lifetime, server: Server, host = '127.0.0.1'): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => sockets.add(socket));
  await once(server.listen(0, host), 'listening');
  t.after(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return (server.address() as AddressInfo).port;
}

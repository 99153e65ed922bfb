import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import {
  type AddressInfo,
  createServer as createRawServer,
  type Server as RawServer,
  type Socket,
} from 'node:net';
import type { TestContext } from 'node:test';
import type { Reach } from '../../src/images/download.ts';

/** For tests on loopback: resolves hosts to themselves and allows every address. */
export const loopback: Reach = { resolve: async (host) => [host], isAllowed: () => true };

export async function listenOn(
  t: TestContext,
  server: Server | RawServer,
  address = '127.0.0.1',
): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => sockets.add(socket));
  server.listen(0, address);
  await once(server, 'listening');
  t.after(async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, 'close');
  });
  return (server.address() as AddressInfo).port;
}

/** Starts a web server and returns its address. */
export async function serveHttp(t: TestContext, answer: RequestListener, address?: string): Promise<string> {
  const port = await listenOn(t, createServer(answer), address);
  return `http://${address ?? '127.0.0.1'}:${port}`;
}

/** Starts a TCP server that may answer anything. */
export async function serveRaw(t: TestContext, answer: (socket: Socket) => void): Promise<string> {
  const server = createRawServer((socket) => {
    socket.on('error', () => {});
    answer(socket);
  });
  return `http://127.0.0.1:${await listenOn(t, server)}`;
}

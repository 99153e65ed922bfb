import { createServer, type RequestListener } from 'node:http';
import { createServer as createRawServer, type Socket } from 'node:net';
import type { TestContext } from 'node:test';
import { listenOnAnyPort } from '../../../testkit/servers/free-port.ts';
import type { Reach } from '../../src/images/download.ts';

/** For tests on loopback: resolves hosts to themselves and allows every address. */
export const loopback: Reach = { resolve: async (host) => [host], isAllowed: () => true };

/** Starts a web server and returns its address. */
export async function serveHttp(t: TestContext, answer: RequestListener, address?: string): Promise<string> {
  const port = await listenOnAnyPort(t, createServer(answer), address);
  return `http://${address ?? '127.0.0.1'}:${port}`;
}

/** Starts a TCP server that may answer anything. */
export async function serveRaw(t: TestContext, answer: (socket: Socket) => void): Promise<string> {
  const server = createRawServer((socket) => {
    socket.on('error', () => {});
    answer(socket);
  });
  return `http://127.0.0.1:${await listenOnAnyPort(t, server)}`;
}

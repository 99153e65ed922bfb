import { createServer } from 'node:http';
import type { Reads } from '../store/port.ts';
import { addressOf, closeServer, listen } from './server.ts';

export interface Operations {
  readonly url: string;
  /** From now on not ready: balancers take their traffic elsewhere. */
  drain(): void;
  close(): Promise<void>;
}

/** The operators' listener: whether the process lives, and whether it may get traffic. */
export async function startOperations(
  host: string,
  port: number,
  store: Pick<Reads, 'ping'>,
): Promise<Operations> {
  let isDraining = false;

  async function isReady(): Promise<boolean> {
    if (isDraining) return false;
    return store.ping().then(
      () => true,
      () => false,
    );
  }

  const server = createServer(async (request, response) => {
    const answers: Record<string, () => Promise<number>> = {
      '/healthz': async () => 200,
      '/readyz': async () => ((await isReady()) ? 200 : 503),
    };
    const status = (await answers[request.url ?? '']?.()) ?? 404;
    const words = { 200: 'ok', 404: 'not found', 503: 'not ready' }[status];
    response.writeHead(status, { 'Content-Type': 'text/plain; charset=utf-8' }).end(`${words}\n`);
  });
  const url = addressOf(host, await listen(server, host, port, '--ops-port'));
  return {
    url,
    drain: () => {
      isDraining = true;
    },
    close: () => closeServer(server),
  };
}

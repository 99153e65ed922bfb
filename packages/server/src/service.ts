import type { Logger } from 'pino';
import { createApp } from './app.ts';
import type { ListenConfig } from './config.ts';
import { createCursors } from './http/cursor.ts';
import { addressOf, closeServer, createHttpServer, listen, serveRoutes } from './http/server.ts';
import { createMemoryLimiter } from './limiter/memory.ts';
import type { Limiter } from './limiter/port.ts';
import type { Store } from './store/port.ts';

export interface RunningService {
  readonly publicUrl: string;
  close(): Promise<void>;
}

/** Builds the service on a store, listens, and answers. */
export async function startService(config: ListenConfig, store: Store, log: Logger): Promise<RunningService> {
  const nowMs = Date.now;
  const cursors = createCursors(await store.cursorKeys(), store.environment, nowMs);
  const server = createHttpServer();
  const port = await listen(server, config.host, config.port, '--port');
  const publicUrl = config.publicUrl ?? addressOf(config.host, port);
  // From listening to here nothing is awaited, so no request can come before its listener.
  const app = createApp({
    environment: store.environment,
    store,
    cursors,
    limiters: { brands: limiterOf(config.brandsRate), balances: limiterOf(config.balancesRate) },
    publicUrl,
    nowMs,
  });
  serveRoutes(server, app, log);
  return { publicUrl, close: () => closeServer(server) };
}

function limiterOf(ratePerSecond: number): Limiter | undefined {
  return ratePerSecond === 0 ? undefined : createMemoryLimiter(ratePerSecond);
}

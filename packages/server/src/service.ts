import type { Logger } from 'pino';
import { createApp } from './app.ts';
import type { Values } from './command-line/options.ts';
import type { listenSettings } from './config.ts';
import { createCursors } from './http/cursor.ts';
import type { Overload } from './http/overload.ts';
import { addressOf, type Close, createHttpServer, listen, portOf, serveRoutes } from './http/server.ts';
import type { OpenLimiters } from './limiter/open.ts';
import type { Journal } from './receipts/journal.ts';
import type { Store } from './store/port.ts';

interface RunningService {
  /** What callers reach it by, and where it listens: the same unless something stands in front of it. */
  readonly publicUrl: string;
  readonly address: string;
  readonly close: Close;
}

/** Builds the service on a store and limiters, listens, and answers. */
export async function startService(
  config: Values<typeof listenSettings>,
  store: Store,
  limiters: OpenLimiters['limiters'],
  journal: Journal,
  overload: Overload,
  log: Logger,
  demoKey?: string,
): Promise<RunningService> {
  const nowMs = Date.now;
  const cursors = createCursors(await store.cursorKeys(), store.environment, nowMs);
  const server = createHttpServer();
  const address = () => addressOf(config.host, portOf(server));
  const publicUrl = () => config['public-url'] ?? address();
  // Before it listens: a worker may be given a connection before it is told that it does.
  const close = serveRoutes(
    server,
    createApp({
      environment: store.environment,
      store,
      cursors,
      limiters,
      journal,
      overload,
      publicUrl,
      demoKey,
      nowMs,
    }),
    log,
    overload,
  );
  await listen(server, config.host, config.port, '--port');
  return { publicUrl: publicUrl(), address: address(), close };
}

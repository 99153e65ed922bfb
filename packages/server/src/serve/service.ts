import type { Logger } from 'pino';
import { httpBounds } from '../bounds/http.ts';
import type { Values } from '../command-line/options.ts';
import { openCursors } from '../cursors/key-refresh.ts';
import type { Routes } from '../http/handle.ts';
import { createOverload, type Overload } from '../http/overload/overload.ts';
import { createRequestMetrics } from '../http/request-metrics.ts';
import {
  addressOf,
  type Close,
  createHttpServer,
  listen,
  portOf,
  serveRoutes,
} from '../http/server/server.ts';
import { connectionsWithin, openFileLimit } from '../lib/open-files.ts';
import type { OpenLimiters } from '../limiter/open.ts';
import type { Metric } from '../observability/metric.ts';
import { watchThisProcess } from '../observability/process-metrics.ts';
import { createJournal, type Journal } from '../receipts/journal.ts';
import type { Store } from '../store/port.ts';
import type { Tracing } from '../tracing/port.ts';
import { startTracing } from '../tracing/tracing.ts';
import { createApp, type Parts } from './app.ts';
import { databaseConfig, type listenSettings, type ServeConfig } from './settings.ts';

interface RunningService {
  /** What callers reach it by, and where it listens: the same unless something stands in front of it. */
  readonly publicUrl: string;
  readonly address: string;
  /** From now on each answer is the last of its connection. */
  drain(): void;
  /** How many requests are under way. */
  unanswered(): number;
  readonly close: Close;
  readonly metrics: readonly Metric[];
}

interface ServiceParts {
  readonly store: Store;
  readonly limiters: OpenLimiters['limiters'];
  readonly journal: Journal;
  readonly overload: Overload;
  readonly tracing?: Tracing | undefined;
  readonly demoKey?: string;
}

/**
 * All that a process which serves is made of, on a store and a rate limit that its caller opened. What is
 * opened here is closed with the stack, the service first. The metrics are those of all parts.
 */
export async function openService(
  config: ServeConfig,
  store: Store,
  rateLimit: OpenLimiters,
  log: Logger,
  opened: AsyncDisposableStack,
): Promise<RunningService> {
  const { environment, database } = databaseConfig(config);
  const tracing = await startTracing(config, environment, database.engine, log);
  opened.defer(async () => tracing?.close());
  const journal = createJournal(store, log);
  opened.defer(journal.close);
  const overload = createOverload(config, log);
  const watched = watchThisProcess();
  opened.defer(watched.close);
  const { limiters } = rateLimit;
  const service = await startService(config, { store, limiters, journal, overload, tracing }, log);
  opened.defer(service.close);
  const parts = [watched, store, rateLimit, journal, overload, service];
  return { ...service, metrics: parts.flatMap(({ metrics }) => metrics) };
}

/** Builds the service on a store and limiters, listens, and answers. */
export async function startService(
  config: Values<typeof listenSettings>,
  { tracing, ...given }: ServiceParts,
  log: Logger,
): Promise<RunningService> {
  const nowMs = Date.now;
  const { store, overload } = given;
  const { environment } = store;
  const cursors = await openCursors(store, nowMs, log);
  const server = createHttpServer();
  const requests = createRequestMetrics();
  const address = () => addressOf(config.host, portOf(server));
  const publicUrl = () => config['public-url'] ?? address();
  const parts = { ...given, environment, cursors, publicUrl, nowMs };
  // Before it listens: a worker may be given a connection before it is told that it does.
  const room = {
    connections: connectionsWithin(openFileLimit()),
    unreadCharacters: httpBounds.unreadCharacters,
  };
  const routes = await routesOf(parts, tracing);
  const { drain, unanswered, close, ...connections } = serveRoutes(server, routes, log, {
    room,
    overload,
    requests,
  });
  await listen(server, config.host, config.port, '--port');
  const metrics = [...requests.metrics, ...connections.metrics];
  return {
    publicUrl: publicUrl(),
    address: address(),
    drain,
    unanswered,
    close: () => close().finally(cursors.close),
    metrics,
  };
}

/** Traced only where there is a tracing: without it, all is as if there was no such thing. */
async function routesOf(parts: Parts, tracing: Tracing | undefined): Promise<Routes> {
  if (tracing === undefined) return createApp(parts);
  const { tracedParts, tracedRoutes } = await import('../tracing/parts.ts');
  return tracedRoutes(createApp(tracedParts(parts, tracing)), tracing);
}

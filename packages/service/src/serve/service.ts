import { readFileSync } from 'node:fs';
import { type MetricRead, readMetrics, watchThisProcess } from '@partner-network/common/observability/metric';
import { originOf } from '@partner-network/common/text';
import type { Route, Site } from '@partner-network/http/handle';
import { Overload } from '@partner-network/http/overload';
import { createRequestMetrics } from '@partner-network/http/request-metrics';
import { createHttpServer, listen, portOf, serveSite } from '@partner-network/http/server/server';
import { toServe } from '@partner-network/store/address';
import { openStore } from '@partner-network/store/engines';
import type { Store } from '@partner-network/store/port';
import type { Logger } from 'pino';
import { createKeyCache } from '../auth.ts';
import { openCursors } from '../cursors.ts';
import { type Decide, openLimiters } from '../limiter/open.ts';
import { listings } from '../listings.ts';
import { createJournal } from '../receipts.ts';
import type { ServiceSettings } from '../settings.ts';
import { createPartnersSite, type Surroundings } from '../site/routes.ts';
import { tracedParts, tracedRoutes } from '../tracing/parts.ts';
import { listingRoute, type PipelineParts } from './pipeline.ts';

/** A service that listens: one process, or a supervisor with its workers. */
export interface Serving {
  readonly publicUrl: string;
  readonly database: Store;
  /** Where it listens. Differs from `publicUrl` behind a proxy. */
  readonly address: string;
  /** Resolves if requests can be answered, to a sentence for each part that does not work. */
  ping(): Promise<readonly string[]>;
  readMetrics(): Promise<readonly MetricRead[]>;
  /** Closes each connection after its next response. */
  drain(): void;
  /** The number of requests that have no response yet. */
  unanswered?(): number;
}

export interface Choices {
  /** A store that the caller has opened and closes. */
  readonly store?: Store;
  /** The rate limit of a worker without Redis, which its supervisor decides. */
  readonly admit?: Decide | undefined;
  /** The number of processes that share the address of this one. */
  readonly workers?: number;
  readonly demoKey?: string;
  readonly onRefusal?: Site['onRefusal'];
  /** Wraps what answers the requests. */
  readonly wrap?: (site: Site, store: Store) => Promise<Site>;
  /** Called before the first request can arrive. */
  readonly beforeRequests?: () => Promise<void>;
}

/** Logs when the files of the embedded database are replaced or removed, and when they are back. */
export function logFileFailures({ onFileFailure }: Pick<Store, 'onFileFailure'>, log: Logger): void {
  onFileFailure?.((fault) => {
    if (fault === undefined) log.warn('the database files are back; requests are answered again');
    else log.error({ fault }, 'the database files were replaced or removed; every request gets a 503');
  });
}

/** Opens the parts of a process that answers requests, and listens. The HTTP server is closed first. */
export async function openService(
  settings: ServiceSettings,
  log: Logger,
  opened: AsyncDisposableStack,
  choices: Choices = {},
): Promise<Serving> {
  const { environment, database } = settings;
  const { host, port } = settings.listener;
  // Before the database, which a start may upgrade.
  const collector = settings.tracing && (await import('../tracing/collector.ts'));
  const tracing = collector?.openTracing(settings.tracing!, environment, database.engine, log);
  const store =
    choices.store ?? (await openStore(database, environment, { ...toServe, ...settings.storeOptions }));
  if (choices.store === undefined) opened.defer(store.close);
  logFileFailures(store, log);
  const rateLimit = await openLimiters({ ...settings, admit: choices.admit }, log);
  opened.defer(rateLimit.close);
  opened.defer(async () => tracing?.close());
  const journal = createJournal(store, log, choices.workers);
  opened.defer(journal.close);
  const overload = new Overload(settings.storeOptions.connections, log);
  const watched = watchThisProcess();
  opened.defer(watched.close);
  const cursors = await openCursors(store, Date.now, log);
  opened.defer(cursors.close);

  const server = createHttpServer();
  const requests = createRequestMetrics();
  const address = () => originOf(host, portOf(server));
  const publicUrl = () => settings.publicUrl ?? address();
  const parts = {
    environment,
    store,
    cursors,
    limiters: rateLimit.limiters,
    journal,
    overload,
    publicUrl,
    demoKey: choices.demoKey,
    nowMs: Date.now,
  };
  const app = createApp(tracing ? tracedParts(parts, tracing) : parts);
  const routes = tracing ? tracedRoutes(app.routes, tracing) : app.routes;
  const site = { ...app, routes, log, requests, onRefusal: choices.onRefusal };
  // Before `listen`: a worker can get a connection before `listen` resolves.
  const http = serveSite(server, (await choices.wrap?.(site, store)) ?? site, overload);
  await choices.beforeRequests?.();
  await listen(server, host, port, '--port');
  opened.defer(http.close);
  const measured = [watched, store, rateLimit, journal, overload, requests, http];
  const metrics = measured.flatMap((part) => part.metrics);
  return {
    publicUrl: publicUrl(),
    database: store,
    address: address(),
    ping: store.ping,
    readMetrics: async () => readMetrics(metrics),
    drain: http.drain,
    unanswered: http.unanswered,
  };
}

const placeholderImage = readFileSync(new URL('../../assets/brand-placeholder.png', import.meta.url));

/** Every path of the public address. Built apart from listening, so that tests build the same service. */
export function createApp(parts: PipelineParts & Surroundings) {
  const keyCache = createKeyCache();
  const rates = Object.entries(parts.limiters).map(([name, { ratePerSecond }]) => [name, ratePerSecond]);
  const limited = Object.fromEntries(rates.filter(([, rate]) => rate !== 0));
  const site = createPartnersSite(parts, limited);
  const routes: ReadonlyMap<string, Route> = new Map<string, Route>([
    ...listings.map((listing): [string, Route] => [
      listing.operation.path,
      listingRoute(parts, keyCache, listing),
    ]),
    ['/assets/brand-placeholder.png', imageRoute],
    ...site.routes,
  ]);
  return { routes, refusalPage: site.refusalPage };
}

const imageRoute: Route = {
  answer: async ({ headers }) => {
    headers.push('Content-Type', 'image/png', 'Cache-Control', 'public, max-age=86400');
    return placeholderImage;
  },
};

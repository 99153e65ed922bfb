import { adminBounds } from '@partner-network/common/bounds/operator';
import type { Output } from '@partner-network/common/command-line/command';
import { createLog } from '@partner-network/common/observability/log';
import {
  buildInfo,
  metric,
  readMetrics,
  watchThisProcess,
} from '@partner-network/common/observability/metric';
import { createStopSignal, ownVersion } from '@partner-network/common/process';
import { isLocal, originOf } from '@partner-network/common/text';
import { adminBasePath, adminOperations } from '@partner-network/contract/admin/operations';
import { adminLimits } from '@partner-network/contract/limits';
import type { Site } from '@partner-network/http/handle';
import { startHealth } from '@partner-network/http/health';
import { createRequestMetrics } from '@partner-network/http/request-metrics';
import { createHttpServer, listen, portOf, serveSite } from '@partner-network/http/server/server';
import { openCursors } from '@partner-network/service/cursors';
import { createJournal } from '@partner-network/service/receipts';
import { createKeyExpiry, drainOn } from '@partner-network/service/serve/run';
import { logFileFailures } from '@partner-network/service/serve/service';
import { type Store, StoreLocked, StoreUnavailable } from '@partner-network/store/port';
import type { Logger } from 'pino';
import { createAdminRoutes } from '../admin/app.ts';
import { BatchSender } from '../admin/batch-sender.ts';
import { createCalls } from '../admin/calls.ts';
import { createIdentify } from '../admin/credentials.ts';
import { notFound } from '../admin/refusals.ts';
import type { resolveAdmin } from '../admin/settings.ts';
import type { Examined } from '../doctor/examine.ts';
import { IdentityProvider } from '../identity/provider.ts';
import { createConsole } from './routes.ts';
import { consoleOperations } from './site.ts';

export type AdminSettings = ReturnType<typeof resolveAdmin>;

type ListenSettings = Pick<AdminSettings, 'listener' | 'publicUrl' | 'database'> &
  Partial<Pick<AdminSettings, 'oidc'>>;

const unknownPath = notFound(
  `Correct the path, which must match exactly, for example ${adminBasePath}/balances/batches, without a ` +
    'slash at the end; /docs lists all paths.',
);

/** A batch may take as long as its body and its work. */
const batchSeconds = [5, 10, 30, 60];

/** Opens the service on a store, and listens. */
export async function openAdmin(
  store: Store,
  { listener: { host, port }, publicUrl, database, oidc }: ListenSettings,
  log: Logger,
  opened: AsyncDisposableStack,
  portFlag = '--port',
  onRefusal?: Site['onRefusal'],
) {
  logFileFailures(store, log);
  const journal = createJournal(store, log);
  opened.defer(journal.close);
  const batches = new BatchSender(store, log);
  opened.defer(() => batches.close());
  const { environment, sessionKeys } = store;
  const cursors = await openCursors({ environment, cursorKeys: sessionKeys }, Date.now, log);
  opened.defer(cursors.close);
  const operations = [...Object.keys(adminOperations), ...consoleOperations];
  const requests = createRequestMetrics(operations, batchSeconds);
  const server = createHttpServer(adminLimits.bodySeconds * 1_000);
  const address = () => originOf(host, portOf(server));
  const ownUrl = () => publicUrl ?? address();
  let examining: Promise<readonly Examined[]> | undefined;
  // Loaded when it is first used. Requests at the same time share one examination: each opens connections.
  const examine = () =>
    (examining ??= import('../doctor/examine.ts')
      .then(({ examineDatabase }) => examineDatabase(database, store.environment))
      .finally(() => {
        examining = undefined;
      }));
  const isOnlyLocal = [originOf(host, port), publicUrl ?? originOf(host, port)].every(isLocal);
  const { box } = cursors;
  const call = createCalls({ store, box, batches });
  const parts = { identify: createIdentify(store, journal), call, batches, publicUrl: ownUrl };
  const provider = oidc && new IdentityProvider(oidc);
  const console = createConsole({ ...parts, store, box, journal, log, examine, provider });
  const app = createAdminRoutes(parts, console, isOnlyLocal);
  const site = { ...app, log, requests, notFound: unknownPath, onRefusal };
  const http = serveSite(server, site);
  await listen(server, host, port, portFlag);
  opened.defer(http.close);
  return {
    address: address(),
    publicUrl: ownUrl(),
    metrics: [...batches.metrics, ...requests.metrics, ...http.metrics, ...store.metrics],
    drain: http.drain,
    unanswered: http.unanswered,
  };
}

/**
 * Tries a change every 15 seconds: a broken trigger fails all changes, and no read notices it. After a lock,
 * the last result still counts, because another process that writes is not a failure.
 */
function createWriteProbe({ tryWrite }: Pick<Store, 'tryWrite'>) {
  let failure: Error | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;

  async function look(): Promise<void> {
    try {
      await tryWrite();
      failure = undefined;
    } catch (error) {
      if (!(error instanceof StoreLocked)) failure = error as Error;
    }
    // A lost database may be back at once.
    const pauseMs = failure instanceof StoreUnavailable ? adminBounds.writeRetryMs : adminBounds.writeProbeMs;
    if (!isClosed) timer = setTimeout(look, pauseMs);
  }

  return {
    look,
    metric: metric('partner_network_write_probe', () => (failure === undefined ? 1 : 0)),
    require: (): void => {
      if (failure) throw new Error(`Changes cannot be written. ${failure.message}`, { cause: failure });
    },
    close: (): void => {
      isClosed = true;
      clearTimeout(timer);
    },
  };
}

export async function adminUntilStopped(
  store: Store,
  settings: AdminSettings,
  output: Output,
): Promise<void> {
  const { environment, database, operations: place, drainDelaySeconds } = settings;
  const stop = createStopSignal();
  const log = createLog(settings.logLevel);
  // Closed last, so that readiness probes get a 503 until everything else is closed.
  await using operations = new AsyncDisposableStack();
  await using opened = new AsyncDisposableStack();
  await stop.listen();
  const admin = await openAdmin(store, settings, log, opened);
  const { publicUrl } = admin;
  const watched = watchThisProcess();
  opened.defer(watched.close);
  const probe = createWriteProbe(store);
  opened.defer(probe.close);
  await probe.look();
  const build = buildInfo(environment, database.engine);
  const metrics = [build, probe.metric, ...watched.metrics, ...admin.metrics];
  const readExpiry = createKeyExpiry(store, 'administration');
  const read = async () => [...readMetrics(metrics), ...(await readExpiry())];
  const ping = async () => {
    const failures = await store.ping();
    probe.require();
    return failures;
  };
  const health = await startHealth(place.host, place.port, ping, read, log);
  operations.defer(health.close);
  output.remark(
    `Administering ${environment} at ${publicUrl}${adminBasePath} on the database ${store.location}; ` +
      `listening on ${admin.address}, operations on ${health.url}.`,
  );
  const credential = settings.oidc
    ? `your account at ${settings.oidc['oidc-issuer'].host}`
    : 'a key of "partner-network admin-keys create --name NAME --role SUPPORT"';
  output.remark(`The console is at ${publicUrl}/console. Sign in with ${credential}.`);
  const fields = { version: ownVersion(), environment, engine: database.engine, database: store.location };
  const addresses = { public_url: publicUrl, address: admin.address, operations_address: health.url };
  log.info({ ...fields, schema: store.migration.to, ...addresses }, 'started');
  const drain = () => {
    health.drain();
    admin.drain();
  };
  const signaledMs = await drainOn(stop.signal, drainDelaySeconds, { ...admin, drain }, log);
  await opened.disposeAsync();
  log.info({ duration_ms: Math.round(performance.now() - signaledMs) }, 'stopped');
}

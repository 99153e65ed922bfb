import { setTimeout as wait } from 'node:timers/promises';
import { observabilityBounds } from '@partner-network/common/bounds/common';
import { serveBounds } from '@partner-network/common/bounds/service';
import type { Output } from '@partner-network/common/command-line/command';
import { createLog } from '@partner-network/common/observability/log';
import {
  buildInfo,
  type MetricRead,
  metric,
  readMetrics,
} from '@partner-network/common/observability/metric';
import { createStopSignal, onStop, ownVersion } from '@partner-network/common/process';
import { within } from '@partner-network/common/timeout';
import { toTime } from '@partner-network/common/times';
import { basePath } from '@partner-network/contract/operations';
import { startHealth } from '@partner-network/http/health';
import type { KeyOwner, Store } from '@partner-network/store/port';
import type { Logger } from 'pino';
import type { ServeSettings } from '../settings.ts';
import type { Serving } from './service.ts';
import type { openWorkers } from './workers/supervisor.ts';

/** Opens the service and its operations address, and closes both after a stop signal. */
export async function serveUntilStopped(
  settings: ServeSettings,
  open: typeof openWorkers,
  output: Output,
): Promise<void> {
  const { environment, database, workers, drainDelaySeconds } = settings;
  const { host, port } = settings.operations;
  const stop = createStopSignal();
  const log = createLog(settings.logLevel);
  // Closed last, so that readiness probes get a 503 until everything else is closed.
  await using operations = new AsyncDisposableStack();
  await using opened = new AsyncDisposableStack();
  // Until then a signal ends the process, also in the middle of a long upgrade, which is rolled back.
  const serving = await open(settings, log, opened, { beforeRequests: stop.listen });
  const { publicUrl, address, database: store } = serving;

  const build = readMetrics([buildInfo(environment, database.engine)]);
  const readExpiry = createKeyExpiry(store, 'partners');
  const read = async () => [...build, ...(await readExpiry()), ...(await serving.readMetrics())];
  // Only now: as soon as this is ready, a balancer sends requests.
  const health = await startHealth(host, port, serving.ping, read, log);
  operations.defer(health.close);
  const { from, to } = store.migration;
  const schema = from === to ? `schema ${to}` : `upgraded from schema ${from} to ${to}`;
  const engine = database.engine === 'sqlite' ? 'the embedded database' : 'Postgres';
  const listening = workers === 1 ? 'listening' : `${workers} workers listening`;
  output.remark(
    `Serving ${environment} at ${publicUrl}${basePath} from ${engine} ${store.location} (${schema}); ` +
      `${listening} on ${address}, operations on ${health.url}.`,
  );
  log.info(
    {
      version: ownVersion(),
      environment,
      engine: database.engine,
      database: store.location,
      schema: to,
      ...(from !== to && { upgraded_from_schema: from }),
      public_url: publicUrl,
      address,
      operations_address: health.url,
      workers,
      sends_traces: settings.tracing !== undefined,
    },
    'started',
  );

  const isLimitedAlone =
    settings.redis === undefined && Object.values(settings.rates).some((rate) => rate > 0);
  if (isLimitedAlone) opened.defer(warnOfInstances(store, log));

  const drain = () => {
    health.drain();
    serving.drain();
  };
  const signaledMs = await drainOn(stop.signal, drainDelaySeconds, { ...serving, drain }, log);
  await opened.disposeAsync();
  log.info({ duration_ms: Math.round(performance.now() - signaledMs) }, 'stopped');
}

/** Warns now and every hour if each of several instances limits by itself. Returns a function to stop. */
export function warnOfInstances({ otherInstances }: Pick<Store, 'otherInstances'>, log: Logger): () => void {
  const look = async () => {
    // Without an answer there is nothing to say: an outage of the database is reported elsewhere.
    const others = (await otherInstances?.().catch(() => 0)) ?? 0;
    if (others === 0) return;
    const what = 'other instances serve this database, and each limits rates alone; set --redis on all';
    log.warn({ other_instances: others }, what);
  };
  void look();
  const timer = setInterval(look, serveBounds.instancesWarningMs).unref();
  return () => clearInterval(timer);
}

/**
 * Drains after the signal, and resolves to the time of the signal when the service may close. SIGTERM comes
 * from a supervisor: wait for the drain delay, so that balancers notice. SIGINT comes from a person: close at
 * once. A second signal ends the process.
 */
export async function drainOn(
  signal: Promise<NodeJS.Signals>,
  drainDelaySeconds: number,
  service: Pick<Serving, 'drain' | 'unanswered'>,
  log: Logger,
): Promise<number> {
  const name = await signal;
  const signalMs = performance.now();
  onStop((second) => {
    const lost = 'unanswered requests and unwritten receipts are lost';
    log.warn({ signal: second, requests: service.unanswered?.() }, `ended by a second signal: ${lost}`);
    process.exit(0);
  });
  service.drain();
  const delaySeconds = name === 'SIGTERM' ? drainDelaySeconds : 0;
  log.info({ signal: name, drain_delay_seconds: delaySeconds }, 'draining');
  await wait(delaySeconds * 1_000);
  return signalMs;
}

/** Reads the metric of the key that expires first: absent if no key expires, or if that is not known. */
export function createKeyExpiry(
  { firstExpiry }: Pick<Store, 'firstExpiry'>,
  of: KeyOwner,
  nowMs = Date.now,
): () => Promise<readonly MetricRead[]> {
  let expiresMs: number | undefined;

  return async () => {
    const answer = within(observabilityBounds.keyExpiryAnswerMs, firstExpiry(of, toTime(nowMs())), Error);
    // Without an answer, the last one counts: an outage of the database is reported elsewhere.
    await answer.then(
      (found) => {
        expiresMs = found === undefined ? undefined : Date.parse(found);
      },
      () => {},
    );
    const secondsLeft = ((expiresMs ?? 0) - nowMs()) / 1_000;
    if (secondsLeft <= 0) return [];
    return readMetrics([metric('partner_network_key_expiry_seconds', () => secondsLeft)]);
  };
}

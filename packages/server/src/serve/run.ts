import { basePath } from '@partner-network/contract/operations';
import type { Logger } from 'pino';
import type { Output } from '../command-line/output.ts';
import { startHealth } from '../http/operations/health.ts';
import { drainOn, stopSignal } from '../lib/signals.ts';
import { ownVersion } from '../lib/version.ts';
import { createLog } from '../observability/log.ts';
import { readMetrics } from '../observability/metric.ts';
import { buildInfo } from '../observability/process-metrics.ts';
import type { Serving } from './service.ts';
import type { ServeSettings } from './settings.ts';

type Open = (settings: ServeSettings, log: Logger, opened: AsyncDisposableStack) => Promise<Serving>;

/** Opens the service and its operations address, and closes both after a stop signal. */
export async function serveUntilStopped(settings: ServeSettings, open: Open, output: Output): Promise<void> {
  const { environment, database, workers, drainDelaySeconds } = settings;
  const signal = stopSignal();
  const log = createLog(settings.logLevel);
  // Closed last, so that readiness probes get a 503 until everything else is closed.
  await using operations = new AsyncDisposableStack();
  await using opened = new AsyncDisposableStack();
  const serving = await open(settings, log, opened);
  const { publicUrl, address } = serving;

  const build = buildInfo(environment, database.engine);
  const read = async () => [...readMetrics([build]), ...(await serving.readMetrics())];
  // Only now: as soon as this is ready, a balancer sends requests.
  const health = await startHealth(settings.operations.host, settings.operations.port, serving, read, log);
  operations.defer(health.close);
  const listening = workers === 1 ? 'listening' : `${workers} workers listening`;
  output.remark(
    `Serving ${environment} at ${publicUrl}${basePath}; ${listening} on ${address}, operations on ${health.url}.`,
  );
  log.info(
    {
      version: ownVersion(),
      environment,
      engine: database.engine,
      public_url: publicUrl,
      address,
      operations_address: health.url,
      workers,
      sends_traces: settings.tracing !== undefined,
    },
    'started',
  );

  const drain = () => {
    health.drain();
    serving.drain();
  };
  const signaledMs = await drainOn(signal, drainDelaySeconds, { ...serving, drain }, log);
  await opened.disposeAsync();
  log.info({ duration_ms: Math.round(performance.now() - signaledMs) }, 'stopped');
}

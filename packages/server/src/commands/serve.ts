import cluster from 'node:cluster';
import { command } from '../command-line/command.ts';
import type { Output } from '../command-line/output.ts';
import { boundYoungSpace } from '../command-line/young-space.ts';
import { startHealth } from '../http/operations/health.ts';
import { drainOn, logStopped, stopSignal } from '../lib/signals.ts';
import { openLimiters } from '../limiter/open.ts';
import { createLog } from '../observability/log.ts';
import { readMetrics } from '../observability/metric.ts';
import { buildInfo } from '../observability/process-metrics.ts';
import { openService } from '../serve/service.ts';
import {
  conflictsOfServe,
  databaseConfig,
  ratesOf,
  type ServeConfig,
  serveSettings,
  storeOptions,
} from '../serve/settings.ts';
import { logStart } from '../serve/started.ts';
import { openStore } from '../store/engines.ts';

export const serve = command({
  options: serveSettings,
  conflicts: conflictsOfServe,
  run: async (config, _words, output) => {
    boundYoungSpace();
    if (cluster.isWorker) return (await import('../serve/workers/worker.ts')).serveAsWorker(config);
    if (config.workers === 1) return serveAlone(config, output);
    return (await import('../serve/workers/supervisor.ts')).superviseWorkers(config, output);
  },
});

async function serveAlone(config: ServeConfig, output: Output): Promise<void> {
  const signal = stopSignal();
  const log = createLog(config);
  const { database, environment } = databaseConfig(config);
  // Closed last: whoever asks is told that this is not ready until there is nobody to ask.
  await using operations = new AsyncDisposableStack();
  await using opened = new AsyncDisposableStack();
  const store = await openStore(database, environment, 'serve', storeOptions(config));
  opened.defer(store.close);
  const { redis, instances } = config;
  const rateLimit = await openLimiters({ environment, rates: ratesOf(config), instances, redis }, log);
  opened.defer(rateLimit.close);
  const service = await openService(config, store, rateLimit, log, opened);
  const metrics = [buildInfo(environment, database.engine), ...service.metrics];
  // Only now: a balancer that hears that this is ready sends callers at once.
  const read = async () => readMetrics(metrics);
  const health = await startHealth(config['ops-host'], config['ops-port'], store, read, log);
  operations.defer(health.close);
  output.remark(
    `Serving ${environment} at ${service.publicUrl}/network/v1; listening on ${service.address}, operations on ${health.url}.`,
  );
  logStart(config, { ...service, operations: health.url }, log);
  const drain = () => {
    health.drain();
    service.drain();
  };
  const toldMs = await drainOn(signal, config['drain-delay'], { drain, unanswered: service.unanswered }, log);
  await opened.disposeAsync();
  logStopped(toldMs, log);
}

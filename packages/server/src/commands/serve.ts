import cluster from 'node:cluster';
import { command, type Output } from '../command-line/command.ts';
import {
  conflictsOfServe,
  databaseConfig,
  ratesOf,
  type ServeConfig,
  serveSettings,
  storeOptions,
} from '../config.ts';
import { startHealth } from '../http/health.ts';
import { createOverload } from '../http/overload.ts';
import { drainOn, stopSignal } from '../lifetime.ts';
import { openLimiters } from '../limiter/open.ts';
import { createLog } from '../log.ts';
import { readMetrics } from '../metric.ts';
import { buildInfo, watchThisProcess } from '../process-metrics.ts';
import { createJournal } from '../receipts/journal.ts';
import { startService } from '../service.ts';
import { openStore } from '../store/open.ts';
import { startTracing } from '../tracing/tracing.ts';

export const serve = command({
  options: serveSettings,
  conflicts: conflictsOfServe,
  run: async (config, _words, output) => {
    if (cluster.isWorker) return (await import('../workers/worker.ts')).serveAsWorker(config);
    if (config.workers === 1) return serveAlone(config, output);
    return (await import('../workers/supervisor.ts')).superviseWorkers(config, output);
  },
});

async function serveAlone(config: ServeConfig, output: Output): Promise<void> {
  const signal = stopSignal();
  const log = createLog(config);
  const { database, environment } = databaseConfig(config);
  // Closed last: whoever asks is told that this is not ready until there is nobody to ask.
  await using operations = new AsyncDisposableStack();
  await using opened = new AsyncDisposableStack();
  const tracing = await startTracing(config, log);
  opened.defer(async () => tracing?.close());
  const store = await openStore(database, environment, 'serve', storeOptions(config));
  opened.defer(store.close);
  const journal = createJournal(store, log);
  opened.defer(journal.close);
  const { redis, instances } = config;
  const rateLimit = await openLimiters({ environment, rates: ratesOf(config), instances, redis }, log);
  opened.defer(rateLimit.close);
  const overload = createOverload(config, log);
  const watched = watchThisProcess();
  opened.defer(watched.close);
  const { limiters } = rateLimit;
  const service = await startService(config, { store, limiters, journal, overload, tracing }, log);
  opened.defer(service.close);
  const metrics = [
    buildInfo(environment, database.engine),
    ...[watched, store, rateLimit, journal, overload, service].flatMap((part) => part.metrics),
  ];
  // Only now: a balancer that hears that this is ready sends callers at once.
  const read = async () => readMetrics(metrics);
  const health = await startHealth(config['ops-host'], config['ops-port'], store, read, log);
  operations.defer(health.close);
  output.remark(
    `Serving ${environment} at ${service.publicUrl}/network/v1; listening on ${service.address}, operations on ${health.url}.`,
  );
  const drain = () => {
    health.drain();
    service.drain();
  };
  await drainOn(signal, config['drain-delay'], drain, log);
  await opened.disposeAsync();
  log.info('stopped');
}

import type { Output } from '../../command-line/output.ts';
import { startHealth } from '../../http/operations/health.ts';
import { addressOf } from '../../http/server/server.ts';
import { OperatorError } from '../../lib/operator-error.ts';
import { drainOn, logStopped, stopSignal } from '../../lib/signals.ts';
import { openLimiters } from '../../limiter/open.ts';
import { createLog } from '../../observability/log.ts';
import { joinedMetrics, readMetrics } from '../../observability/metric.ts';
import { buildInfo, watchThisProcess } from '../../observability/process-metrics.ts';
import { openStore } from '../../store/engines.ts';
import { StoreUnavailable } from '../../store/port.ts';
import { databaseConfig, ratesOf, type ServeConfig, storeOptions } from '../settings.ts';
import { logStart } from '../started.ts';
import { startCrew } from './worker-pool.ts';

/** Starts the workers, decides their rate limit where there is no Redis, and answers the operators. */
export async function superviseWorkers(config: ServeConfig, output: Output): Promise<void> {
  const signal = stopSignal();
  const log = createLog(config);
  const { database, environment } = databaseConfig(config);
  // Closed last: whoever asks is told that this is not ready until there is nobody to ask.
  await using operations = new AsyncDisposableStack();
  await using opened = new AsyncDisposableStack();
  const options = { ...storeOptions(config), replicas: [], connections: 1 };
  const store = await openStore(database, environment, 'serve', options);
  opened.defer(store.close);
  const rates = config.redis === undefined ? ratesOf(config) : {};
  const rateLimit = await openLimiters({ environment, rates }, log);
  const watched = watchThisProcess();
  opened.defer(watched.close);
  const crew = await startCrew(
    config.workers,
    { admit: ({ operation, partnerId }) => rateLimit.limiters[operation]!.admit(partnerId) },
    log,
  );
  if (crew === undefined) throw new OperatorError('No worker could be started.');
  opened.defer(crew.stop);
  const ready = {
    ping: async () => {
      if (crew.size() === 0) throw new StoreUnavailable('There is no worker to answer.');
      await store.ping();
    },
  };
  const metrics = [buildInfo(environment, database.engine), ...watched.metrics, ...rateLimit.metrics];
  const read = async () => joinedMetrics([...readMetrics(metrics), ...(await crew.metrics())]);
  const health = await startHealth(config['ops-host'], config['ops-port'], ready, read, log);
  operations.defer(health.close);
  const address = addressOf(config.host, crew.port);
  const publicUrl = config['public-url'] ?? address;
  output.remark(
    `Serving ${environment} at ${publicUrl}/network/v1; ` +
      `${config.workers} workers listening on ${address}, operations on ${health.url}.`,
  );
  logStart(config, { publicUrl, address, operations: health.url }, log);
  const drain = () => {
    health.drain();
    crew.drain();
  };
  const toldMs = await drainOn(signal, config['drain-delay'], { drain }, log);
  await opened.disposeAsync();
  logStopped(toldMs, log);
}

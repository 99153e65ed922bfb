import cluster from 'node:cluster';
import type { Operation } from '@partner-network/contract/operations';
import { type OpenLimiters, openLimiters } from '../../limiter/open.ts';
import type { Limiter } from '../../limiter/port.ts';
import { createLog } from '../../observability/log.ts';
import { type Metric, readMetrics } from '../../observability/metric.ts';
import { openStore } from '../../store/engines.ts';
import { openService } from '../service.ts';
import { databaseConfig, ratesOf, type ServeConfig, storeOptions } from '../settings.ts';
import { type Ask, openChannel } from './channel.ts';

/** One of several processes that answer on the same address, until its supervisor tells it to stop. */
export async function serveAsWorker(config: ServeConfig): Promise<void> {
  // A terminal sends its signals to every process; here only the supervisor decides.
  process.on('SIGINT', () => {}).on('SIGTERM', () => {});
  const draining = Promise.withResolvers<undefined>();
  const stopped = Promise.withResolvers<undefined>();
  let metrics: readonly Metric[] = [];
  const ask = openChannel(process as Parameters<typeof openChannel>[0], {
    drain: () => {
      draining.resolve(undefined);
      return undefined;
    },
    stop: () => {
      stopped.resolve(undefined);
      return undefined;
    },
    metrics: () => readMetrics(metrics),
  });

  await using opened = new AsyncDisposableStack();
  opened.defer(leaveSupervisor);
  const log = createLog(config);
  const { database, environment } = databaseConfig(config);
  const store = await openStore(database, environment, 'serve', storeOptions(config));
  opened.defer(store.close);
  const rateLimit = await (config.redis === undefined
    ? limitersOfSupervisor(config, ask)
    : openLimiters(
        {
          environment,
          rates: ratesOf(config),
          instances: config.workers * config.instances,
          redis: config.redis,
        },
        log,
      ));
  opened.defer(rateLimit.close);
  const service = await openService(config, store, rateLimit, log, opened);
  metrics = service.metrics;
  void draining.promise.then(service.drain);
  await stopped.promise;
}

/** The channel would keep the process alive; and without the mark Node would end it before it has spoken. */
function leaveSupervisor(): void {
  cluster.worker!.exitedAfterDisconnect = true;
  process.disconnect();
}

/** All workers count together in the memory of their supervisor. */
function limitersOfSupervisor(config: ServeConfig, ask: Ask): OpenLimiters {
  const limited = Object.entries(ratesOf(config)).filter(([, rate]) => rate > 0);
  const limiterOf = (operation: Operation['name'], ratePerSecond: number): Limiter => ({
    ratePerSecond,
    tallies: [],
    admit: (partnerId) => ask('admit', { operation, partnerId }),
  });
  return {
    limiters: Object.fromEntries(
      limited.map(([operation, rate]) => [operation, limiterOf(operation as Operation['name'], rate)]),
    ),
    metrics: [],
    close: async () => {},
  };
}

import { OperatorError } from '@partner-network/common/errors';
import { joinedMetrics, readMetrics, watchThisProcess } from '@partner-network/common/observability/metric';
import { originOf } from '@partner-network/common/text';
import { openStore } from '@partner-network/store/engines';
import { StoreUnavailable } from '@partner-network/store/port';
import type { Logger } from 'pino';
import { openLimiters } from '../../limiter/open.ts';
import type { ServeSettings } from '../../settings/serve.ts';
import type { Choices, Serving } from '../service.ts';
import { startWorkerPool } from './worker-pool.ts';

/** Starts the workers. Without Redis their rate limit is decided here, in memory. */
export async function openWorkers(
  settings: ServeSettings,
  log: Logger,
  opened: AsyncDisposableStack,
  given: Pick<Choices, 'beforeRequests'>,
): Promise<Serving> {
  const { environment, database, workers, listener } = settings;
  const store = await openStore(database, environment, 'serve', {
    ...settings.storeOptions,
    replicas: [],
    connections: 1,
  });
  opened.defer(store.close);
  const rates = settings.redis === undefined ? settings.rates : {};
  const rateLimit = await openLimiters({ environment, rates }, log);
  const watched = watchThisProcess();
  opened.defer(watched.close);
  const pool = await startWorkerPool(
    workers,
    { admit: ({ operation, partnerId }) => rateLimit.limiters[operation]!.admit(partnerId) },
    log,
    given.beforeRequests,
  );
  if (pool === undefined)
    throw new OperatorError('The first worker did not start. Correct the problem that it reported.');
  opened.defer(pool.stop);
  if (environment === 'sandbox') log.info('rehearsals are off, because they need --workers 1');

  const metrics = [...watched.metrics, ...rateLimit.metrics];
  const address = originOf(listener.host, pool.port);
  return {
    publicUrl: settings.publicUrl ?? address,
    database: store,
    address,
    ping: async () => {
      if (pool.size() === 0) throw new StoreUnavailable('No worker is running.');
      return store.ping();
    },
    readMetrics: async () => joinedMetrics([...readMetrics(metrics), ...(await pool.metrics())]),
    drain: pool.drain,
  };
}

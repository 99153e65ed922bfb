import cluster from 'node:cluster';
import { createLog } from '@partner-network/common/observability/log';
import type { Decide } from '../../limiter/open.ts';
import type { ServeSettings } from '../../settings.ts';
import { openService, type Serving } from '../service.ts';
import { openChannel } from './channel.ts';

/** Serves on the address that all workers share, until the supervisor says to stop. */
export async function serveAsWorker(settings: ServeSettings): Promise<void> {
  // A terminal sends its signals to every process; only the supervisor acts on them.
  process.on('SIGINT', () => {}).on('SIGTERM', () => {});
  const draining = Promise.withResolvers<void>();
  const stopped = Promise.withResolvers<void>();
  let serving: Serving | undefined;
  const ask = openChannel(process as Parameters<typeof openChannel>[0], {
    drain: draining.resolve,
    stop: stopped.resolve,
    metrics: async () => (await serving?.readMetrics()) ?? [],
  });

  await using opened = new AsyncDisposableStack();
  opened.defer(leaveSupervisor);
  // All workers count together in the supervisor, or in Redis.
  const askSupervisor: Decide = (operation, partnerId, rate) => ask('admit', { operation, partnerId, rate });
  const admit = settings.redis === undefined ? askSupervisor : undefined;
  serving = await openService(settings, createLog(settings.logLevel), opened, {
    admit,
    workers: settings.workers,
  });
  void draining.promise.then(serving.drain);
  await stopped.promise;
}

/** Closes the channel, which would keep the process alive. Without the mark, Node would exit at once. */
function leaveSupervisor(): void {
  cluster.worker!.exitedAfterDisconnect = true;
  process.disconnect();
}

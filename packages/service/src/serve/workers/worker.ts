import cluster from 'node:cluster';
import { createLog } from '@partner-network/common/observability/log';
import type { ListingName } from '@partner-network/contract/operations';
import type { OpenLimiters } from '../../limiter/open.ts';
import type { Limiter } from '../../limiter/rate-limit.ts';
import type { ServeSettings } from '../../settings.ts';
import { openService, type Serving } from '../service.ts';
import { type Ask, openChannel } from './channel.ts';

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
  const rateLimit = settings.redis === undefined ? limitersOfSupervisor(settings.rates, ask) : undefined;
  serving = await openService(settings, createLog(settings.logLevel), opened, { rateLimit });
  void draining.promise.then(serving.drain);
  await stopped.promise;
}

/** Closes the channel, which would keep the process alive. Without the mark, Node would exit at once. */
function leaveSupervisor(): void {
  cluster.worker!.exitedAfterDisconnect = true;
  process.disconnect();
}

/** Limiters that ask the supervisor, so that all workers count together. */
function limitersOfSupervisor(rates: ServeSettings['rates'], ask: Ask): OpenLimiters {
  const limiterOf = (operation: ListingName, ratePerSecond: number): Limiter => ({
    ratePerSecond,
    tallies: [],
    admit: (partnerId) => ask('admit', { operation, partnerId }),
  });
  const limited = (Object.entries(rates) as [ListingName, number][]).filter(([, rate]) => rate > 0);
  return {
    limiters: Object.fromEntries(limited.map(([name, rate]) => [name, limiterOf(name, rate)])),
    metrics: [],
    close: async () => {},
  };
}

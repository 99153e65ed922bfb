import cluster, { type Worker } from 'node:cluster';
import { setTimeout as wait } from 'node:timers/promises';
import { httpBounds } from '@partner-network/common/bounds/http';
import { receiptsBounds, serveBounds, tracingBounds } from '@partner-network/common/bounds/service';
import { postgresBounds } from '@partner-network/common/bounds/store';
import { OperatorError } from '@partner-network/common/errors';
import {
  type MetricRead,
  type Reading,
  readMetrics,
  watchThisProcess,
} from '@partner-network/common/observability/metric';
import { originOf } from '@partner-network/common/text';
import { within } from '@partner-network/common/timeout';
import { toServe } from '@partner-network/store/address';
import { openStore } from '@partner-network/store/engines';
import { StoreUnavailable } from '@partner-network/store/port';
import type { Logger } from 'pino';
import { openLimiters } from '../../limiter/open.ts';
import type { ServeSettings } from '../../settings.ts';
import type { Choices, Serving } from '../service.ts';
import { type Answers, type Ask, openChannel } from './channel.ts';

/** Starts the workers. Without Redis their rate limit is decided here, in memory. */
export async function openWorkers(
  settings: ServeSettings,
  log: Logger,
  opened: AsyncDisposableStack,
  { beforeRequests }: Pick<Choices, 'beforeRequests'>,
): Promise<Serving> {
  const { environment, database, workers, listener } = settings;
  const store = await openStore(database, environment, {
    ...toServe,
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
    { admit: ({ operation, partnerId, rate }) => rateLimit.limiters[operation]!.admit(partnerId, rate) },
    log,
    beforeRequests,
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
    readMetrics: async () => [...readMetrics(metrics), ...(await pool.metrics())],
    drain: pool.drain,
  };
}

/** The longest that a worker may take to stop: the sum of what its parts may take. */
const stopMs = httpBounds.drainMs + receiptsBounds.closeMs + postgresBounds.closeMs + tracingBounds.closeMs;

/** Starts workers, and replaces a worker that ends before `stop`. Undefined if the first does not start. */
async function startWorkerPool(
  count: number,
  answers: Answers,
  log: Logger,
  onFirstListening?: () => Promise<void>,
) {
  const workers = new Map<Worker, Ask>();
  const listening = new Set<Worker>();
  const stopping = new AbortController();
  let isDraining = false;
  let port: number | undefined;

  /** Resolves to the worker's port, or to undefined if it ends before it listens. */
  function start(): Promise<number | undefined> {
    const worker = cluster.fork();
    const ask = openChannel(worker as unknown as Parameters<typeof openChannel>[0], answers);
    workers.set(worker, ask);
    return new Promise((resolve) => {
      worker.once('listening', ({ port }) => {
        listening.add(worker);
        // Repeated here: a message to a worker that does not listen yet can be lost.
        if (isDraining) send(ask, 'drain');
        if (stopping.signal.aborted) send(ask, 'stop');
        resolve(port);
      });
      const lose = (why: object) => {
        if (!workers.delete(worker)) return;
        listening.delete(worker);
        resolve(undefined);
        if (!stopping.signal.aborted && port !== undefined) void replace(worker, why);
      };
      worker.once('exit', (code, signal) => lose({ code, signal }));
      // The process could not be created. Only the code is logged: the error repeats our flags.
      worker.on('error', (error: NodeJS.ErrnoException) => lose({ code: error.code }));
    });
  }

  async function replace({ id }: Worker, why: object): Promise<void> {
    log.error({ worker: id, ...why }, 'a worker ended; a new one is started');
    await wait(serveBounds.workerRestartMs, undefined, { signal: stopping.signal }).then(start, () => {});
  }

  const killAll = () => {
    for (const worker of workers.keys()) worker.process.kill('SIGKILL');
  };
  // A frozen worker would not notice that its supervisor is gone.
  process.once('exit', killAll);

  // The first starts alone: a problem that would stop all of them is reported once.
  port = await start();
  if (port === undefined) return undefined;
  await onFirstListening?.();
  await Promise.all(Array.from({ length: count - 1 }, start));

  return {
    /** The port that the workers share. */
    port,
    /** The number of workers that listen. */
    size: () => listening.size,
    /** The metrics of each worker that answers in time, labelled with its number. */
    metrics: async () => (await Promise.all([...workers].map(metricsOf))).flat(),
    /** Closes each connection after its next response. */
    drain() {
      isDraining = true;
      for (const ask of workers.values()) send(ask, 'drain');
    },
    async stop() {
      stopping.abort();
      const ended = [...workers.keys()].map(exitOf);
      for (const ask of workers.values()) send(ask, 'stop');
      const timer = setTimeout(killAll, stopMs);
      await Promise.all(ended);
      clearTimeout(timer);
    },
  };
}

/** Not `once` of node:events, which rejects if a message to a worker that is gone cannot be sent. */
function exitOf(worker: Worker): Promise<void> {
  return new Promise((resolve) => worker.once('exit', () => resolve()));
}

/** Sends an order. An error means that the worker is gone, which does not matter. */
const send = (ask: Ask, order: 'drain' | 'stop') => ask(order).catch(() => {});

async function metricsOf([{ id }, ask]: [Worker, Ask]): Promise<MetricRead[]> {
  const metrics = await within(serveBounds.workerAnswerMs, ask('metrics'), Error).catch(() => []);
  const labelled = (reading: Reading) => ({
    ...reading,
    labels: { ...reading.labels, worker: String(id) },
    // The channel sends JSON, which turns NaN into null.
    value: reading.value ?? Number.NaN,
  });
  return metrics.map((metric) => ({ ...metric, readings: metric.readings.map(labelled) }));
}

import cluster, { type Worker } from 'node:cluster';
import { httpBounds } from '@partner-network/common/bounds/http';
import { postgresBounds } from '@partner-network/common/bounds/postgres';
import { receiptsBounds } from '@partner-network/common/bounds/receipts';
import { serveBounds } from '@partner-network/common/bounds/serve';
import { tracingBounds } from '@partner-network/common/bounds/tracing';
import type { MetricRead } from '@partner-network/common/observability/metric';
import { within } from '@partner-network/common/timeout';
import type { Logger } from 'pino';
import { type Answers, type Ask, openChannel } from './channel.ts';

/** The longest that a worker may take to stop: the sum of what its parts may take. */
const stopMs =
  httpBounds.drainMs +
  receiptsBounds.receiptsCloseMs +
  postgresBounds.postgresCloseMs +
  tracingBounds.tracesCloseMs;

/** Starts workers, and replaces a worker that ends before `stop`. Undefined if the first does not start. */
export async function startWorkerPool(
  count: number,
  answers: Answers,
  log: Logger,
  onFirstListening?: () => Promise<void>,
) {
  const workers = new Map<Worker, Ask>();
  const listening = new Set<Worker>();
  const replacements = new Set<NodeJS.Timeout>();
  let isDraining = false;
  let isStopping = false;
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
        if (isStopping) send(ask, 'stop');
        resolve(port);
      });
      const lose = (why: object) => {
        if (!workers.delete(worker)) return;
        listening.delete(worker);
        resolve(undefined);
        if (!isStopping && port !== undefined) replace(worker, why);
      };
      worker.once('exit', (code, signal) => lose({ code, signal }));
      // The process could not be created. Only the code is logged: the error repeats our flags.
      worker.on('error', (error: NodeJS.ErrnoException) => lose({ code: error.code }));
    });
  }

  function replace({ id }: Worker, why: object): void {
    log.error({ worker: id, ...why }, 'a worker ended; a new one is started');
    const timer = setTimeout(() => {
      replacements.delete(timer);
      void start();
    }, serveBounds.workerRestartMs);
    replacements.add(timer);
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
    async metrics() {
      const asked = [...workers].map(async ([{ id }, ask]) => {
        const metrics = await within(serveBounds.workerAnswerMs, ask('metrics'), Error).catch(() => []);
        return metrics.map((metric) => ofWorker(metric, String(id)));
      });
      return (await Promise.all(asked)).flat();
    },
    /** Closes each connection after its next response. */
    drain() {
      isDraining = true;
      for (const ask of workers.values()) send(ask, 'drain');
    },
    async stop() {
      isStopping = true;
      for (const timer of replacements) clearTimeout(timer);
      const ended = [...workers.keys()].map(
        (worker) => new Promise((resolve) => worker.once('exit', resolve)),
      );
      for (const ask of workers.values()) send(ask, 'stop');
      const timer = setTimeout(killAll, stopMs);
      await Promise.all(ended);
      clearTimeout(timer);
    },
  };
}

/** Sends an order. An error means that the worker is gone, which does not matter. */
function send(ask: Ask, order: 'drain' | 'stop'): void {
  ask(order).catch(() => {});
}

function ofWorker({ readings, ...metric }: MetricRead, worker: string): MetricRead {
  const numbered = readings.map((reading) => ({
    ...reading,
    labels: { ...reading.labels, worker },
    // The channel sends JSON, which turns NaN into null.
    value: reading.value ?? Number.NaN,
  }));
  return { ...metric, readings: numbered };
}

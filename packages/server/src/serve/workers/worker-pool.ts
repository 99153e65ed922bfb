import cluster, { type Worker } from 'node:cluster';
import { setTimeout as wait } from 'node:timers/promises';
import type { Logger } from 'pino';
import { httpBounds } from '../../bounds/http.ts';
import { postgresBounds } from '../../bounds/postgres.ts';
import { receiptsBounds } from '../../bounds/receipts.ts';
import { serveBounds } from '../../bounds/serve.ts';
import { tracingBounds } from '../../bounds/tracing.ts';
import type { MetricRead } from '../../observability/metric.ts';
import { type Answers, type Ask, openChannel } from './channel.ts';

interface WorkerPool {
  /** The port that they answer on. */
  readonly port: number;
  /** How many of them answer now. */
  size(): number;
  /** What each of them measures, each by itself and with its number; one that does not answer is left out. */
  metrics(): Promise<readonly MetricRead[]>;
  /** From now on each answer is the last of its connection. */
  drain(): void;
  stop(): Promise<void>;
}

/** So many workers at any time: one that ends before it is told to is replaced. */
export async function startWorkerPool(
  count: number,
  answers: Answers,
  log: Logger,
): Promise<WorkerPool | undefined> {
  const workers = new Map<Worker, Ask>();
  const listening = new Set<Worker>();
  const replacements = new Set<NodeJS.Timeout>();
  let isDraining = false;
  let isStopping = false;
  let port: number | undefined;

  function start(): Promise<number | undefined> {
    const worker = cluster.fork();
    const ask = openChannel(worker as unknown as Parameters<typeof openChannel>[0], answers);
    workers.set(worker, ask);
    return new Promise((resolve) => {
      worker.once('listening', ({ port }) => {
        listening.add(worker);
        // Before it listens, it may not hear what it is told.
        if (isDraining) tell(ask, 'drain');
        if (isStopping) tell(ask, 'stop');
        resolve(port);
      });
      const lose = (why: object) => {
        if (!workers.delete(worker)) return;
        listening.delete(worker);
        resolve(undefined);
        if (!isStopping && port !== undefined) replace(worker, why);
      };
      worker.once('exit', (code, signal) => lose({ code, signal }));
      // A process that could not even be made; of its error the code alone, for the rest repeats our flags.
      worker.on('error', (error: NodeJS.ErrnoException) => lose({ code: error.code }));
    });
  }

  function replace({ id }: Worker, why: object): void {
    log.error({ worker: id, ...why }, 'a worker ended; another takes its place');
    const timer = setTimeout(() => {
      replacements.delete(timer);
      void start();
    }, serveBounds.workerRestartMs);
    replacements.add(timer);
  }

  const killAll = () => {
    for (const worker of workers.keys()) worker.process.kill('SIGKILL');
  };
  // When all has to end at once: one that is frozen would not notice that its supervisor is gone.
  process.once('exit', killAll);

  // The first goes ahead: what keeps it from starting would keep the others, and is said once.
  port = await start();
  if (port === undefined) return undefined;
  await Promise.all(Array.from({ length: count - 1 }, start));

  return {
    port,
    size: () => listening.size,
    async metrics() {
      const late = wait(serveBounds.workerAnswerMs, [], { ref: false });
      const asked = [...workers].map(async ([{ id }, ask]) => {
        const metrics = await Promise.race([ask('metrics', undefined).catch(() => []), late]);
        return metrics.map((metric) => ofWorker(metric, String(id)));
      });
      return (await Promise.all(asked)).flat();
    },
    drain() {
      isDraining = true;
      for (const ask of workers.values()) tell(ask, 'drain');
    },
    async stop() {
      isStopping = true;
      for (const timer of replacements) clearTimeout(timer);
      const ended = [...workers.keys()].map(
        (worker) => new Promise((resolve) => worker.once('exit', resolve)),
      );
      for (const ask of workers.values()) tell(ask, 'stop');
      // They give those who wait the drain time; one that is frozen would take for ever.
      const patience = setTimeout(
        killAll,
        httpBounds.drainMs +
          receiptsBounds.receiptsCloseMs +
          postgresBounds.postgresCloseMs +
          tracingBounds.tracesCloseMs,
      );
      await Promise.all(ended);
      clearTimeout(patience);
    },
  };
}

/** One that is gone meanwhile does not need to hear it. */
function tell(ask: Ask, what: 'drain' | 'stop'): void {
  ask(what, undefined).catch(() => {});
}

function ofWorker({ readings, ...metric }: MetricRead, worker: string): MetricRead {
  const numbered = readings.map((reading) => ({
    ...reading,
    labels: { ...reading.labels, worker },
    // On its way here, what is no number has become null.
    value: reading.value ?? Number.NaN,
  }));
  return { ...metric, readings: numbered };
}

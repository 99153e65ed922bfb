import cluster, { type Worker } from 'node:cluster';
import { setTimeout as wait } from 'node:timers/promises';
import type { Logger } from 'pino';
import { bounds } from '../bounds.ts';
import type { MetricRead } from '../metric.ts';
import { type Answers, type Ask, openChannel } from './channel.ts';

export interface Crew {
  /** The port that they answer on. */
  readonly port: number;
  /** How many of them answer now. */
  size(): number;
  /** What each of them measures, with its number; one that does not answer is left out. */
  metrics(): Promise<readonly MetricRead[]>;
  stop(): Promise<void>;
}

/** So many workers at any time: one that ends before it is told to is replaced. */
export async function startCrew(count: number, answers: Answers, log: Logger): Promise<Crew | undefined> {
  const crew = new Map<Worker, Ask>();
  const listening = new Set<Worker>();
  const replacements = new Set<NodeJS.Timeout>();
  let isStopping = false;

  function start(): Promise<number | undefined> {
    const worker = cluster.fork();
    crew.set(worker, openChannel(worker as unknown as Parameters<typeof openChannel>[0], answers));
    return new Promise((resolve) => {
      worker.once('listening', ({ port }) => {
        listening.add(worker);
        resolve(port);
      });
      worker.once('exit', () => {
        crew.delete(worker);
        listening.delete(worker);
        resolve(undefined);
      });
      // A process that could not even be made says so here, and exits, too.
      worker.on('error', (error) => log.error({ err: error }, 'a worker has a fault'));
    });
  }

  // The first goes ahead: what keeps it from starting would keep the others, and is said once.
  const port = await start();
  if (port === undefined) return undefined;
  cluster.on('exit', (worker, code, signal) => {
    if (isStopping) return;
    log.error({ worker: worker.id, code, signal }, 'a worker ended; another takes its place');
    const timer = setTimeout(() => {
      replacements.delete(timer);
      void start();
    }, bounds.workerRestartMs);
    replacements.add(timer);
  });
  await Promise.all(Array.from({ length: count - 1 }, start));

  return {
    port,
    size: () => listening.size,
    async metrics() {
      const late = wait(bounds.workerAnswerMs, [], { ref: false });
      const asked = [...crew].map(async ([{ id }, ask]) => {
        const metrics = await Promise.race([ask('metrics', undefined).catch(() => []), late]);
        return metrics.map((metric) => ofWorker(metric, String(id)));
      });
      return joined((await Promise.all(asked)).flat());
    },
    async stop() {
      isStopping = true;
      for (const timer of replacements) clearTimeout(timer);
      const ended = [...crew.keys()].map((worker) => new Promise((resolve) => worker.once('exit', resolve)));
      for (const ask of crew.values()) void ask('stop', undefined).catch(() => {});
      await Promise.all(ended);
    },
  };
}

function ofWorker({ labels, readings, ...metric }: MetricRead, worker: string): MetricRead {
  const numbered = readings.map(({ labels, value }) => ({ labels: { ...labels, worker }, value }));
  return { ...metric, labels: [...labels, 'worker'], readings: numbered };
}

/** One metric of each name, with the readings of all workers. */
function joined(metrics: readonly MetricRead[]): MetricRead[] {
  return Object.values(Object.groupBy(metrics, ({ name }) => name)).map((same) => ({
    ...same![0]!,
    readings: same!.flatMap(({ readings }) => readings),
  }));
}

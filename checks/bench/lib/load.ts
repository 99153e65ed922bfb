/** The load generator of all benches, a process of its own (load-generator.ts), and what it measured. */
import { fork, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { wholeRun } from '../../lib/program.ts';

export interface Listener {
  readonly pid: number;
  readonly port: number;
}

export interface Request {
  readonly path: string;
  readonly key?: string | undefined;
}

/** A load. */
export interface Stream {
  /** Sent in turn: a single repeated request would favor a service that caches pages. */
  readonly requests: readonly Request[];
  readonly connections: number;
  /** Without a rate, each connection sends its next request as soon as it has its answer. */
  readonly perSecond?: number;
}

export interface Round extends Listener, Stream {
  readonly seconds: number;
}

interface Answer {
  readonly atMs: number;
  readonly tookMs: number;
}

/** The outcome of a load. */
export interface Played {
  sent: number;
  /** Requests that were due while all connections were busy. */
  unsent: number;
  seconds: number;
  /** CPU time of the service during the stream. */
  cpuSeconds: number;
  /** By status. */
  answers: Record<string, Answer[]>;
}

export type Generator = ReturnType<typeof startGenerator>;

export function startGenerator() {
  const child = fork(fileURLToPath(new URL('./load-generator.ts', import.meta.url)), [], {
    serialization: 'advanced',
  });
  wholeRun.after(() => void child.kill('SIGKILL'));
  return {
    pid: child.pid!,
    /** Rejects if a connection is lost. */
    async play({ port, pid }: Listener, seconds: number, stream: Stream): Promise<Played> {
      child.send({ port, pid, seconds, ...stream } satisfies Round);
      const [played] = (await once(child, 'message')) as [Played | string];
      if (typeof played === 'string') throw new Error(`The load failed: ${played}`);
      return played;
    },
  };
}

export function timesOf({ answers }: Played, status: string): number[] {
  return (answers[status] ?? []).map(({ tookMs }) => tookMs);
}

export function rateOf(played: Played, status: string): number {
  return timesOf(played, status).length / played.seconds;
}

/** Gives each process its own core. Returns whether that was possible. */
export function pin(...pids: readonly number[]): boolean {
  if (availableParallelism() < pids.length) return false;
  return pids.every((pid, core) => spawnSync('taskset', ['-acp', String(core), String(pid)]).status === 0);
}

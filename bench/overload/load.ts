/** Load from a process of its own, and what came of it. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { wholeRun } from '../lib/program.ts';

export interface Stream {
  readonly path: string;
  /** Each connection has one of them. */
  readonly keys: readonly string[];
  readonly connections: number;
  /** Without one, each connection asks again as soon as it has its answer. */
  readonly perSecond?: number;
}

export interface Round {
  readonly port: number;
  /** Of the process that answers. */
  readonly pid: number;
  readonly seconds: number;
  readonly streams: readonly Stream[];
}

interface Taken {
  readonly atMs: number;
  readonly tookMs: number;
}

/** What came of a stream. */
export interface Played {
  sent: number;
  /** Was due, and found all connections busy. */
  unsent: number;
  seconds: number;
  /** What the process that answers used of them; NaN where the system does not tell. */
  cpuSeconds: number;
  /** By status. */
  answers: Record<string, Taken[]>;
}

export interface Generator {
  readonly pid: number;
  play(seconds: number, ...streams: Stream[]): Promise<Played[]>;
}

export function startGenerator({ port, pid }: { port: number; pid: number }): Generator {
  const child = fork(fileURLToPath(new URL('./load-generator.ts', import.meta.url)), [], {
    serialization: 'advanced',
  });
  wholeRun.after(() => {
    child.kill('SIGKILL');
  });
  return {
    pid: child.pid!,
    async play(seconds, ...streams) {
      child.send({ port, pid, seconds, streams } satisfies Round);
      const [played] = await once(child, 'message');
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

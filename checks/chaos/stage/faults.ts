/** Applies the faults of a plan to the stage, and records when each began and ended. */
import { setTimeout as wait } from 'node:timers/promises';
import { now } from '../../../packages/testkit/fixtures/lifetime.ts';
import type { Fault, Harm, Part } from '../plan.ts';
import type { Stage } from './stage.ts';

export interface Applied extends Fault {
  readonly beganMs: number;
  /** When the part reported that it is ready again. */
  readonly overMs: number;
}

type Act = readonly [harm: () => unknown, undo: () => unknown];

interface Process {
  kill(): Promise<unknown>;
  start(): Promise<void>;
  freeze(): void;
  thaw(): void;
}

function actsOn(stage: Stage): Readonly<Record<Part, Partial<Record<Harm, Act>>>> {
  const { instances, admin, primary, standby, redis, balancer, harmWire } = stage;
  const [a, b] = instances;
  const ofProcess = (process: Process, stop: () => Promise<unknown>): Partial<Record<Harm, Act>> => ({
    kill: [process.kill, process.start],
    freeze: [process.freeze, process.thaw],
    restart: [stop, process.start],
  });
  const ofWire = (name: 'redis' | 'primary'): Partial<Record<Harm, Act>> => ({
    silence: [() => harmWire(name, 'silence'), () => harmWire(name, 'go on')],
    slow: [() => harmWire(name, 'slow'), () => harmWire(name, 'fast')],
    'hang up': [() => harmWire(name, 'hang up'), () => {}],
  });
  return {
    'instance a': ofProcess(a, a.terminate),
    'instance b': ofProcess(b, b.terminate),
    admin: ofProcess(admin, admin.terminate),
    redis: { ...ofProcess(redis, redis.kill), ...ofWire('redis') },
    standby: ofProcess(standby, () => standby.stop('fast')),
    primary: { ...ofProcess(primary, () => primary.stop('fast')), ...ofWire('primary') },
    balancer: { reload: [balancer.reload, () => {}] },
  };
}

/** A part has one fault at a time; both instances count as one part. */
const groupOf = (part: Part) => (part.startsWith('instance') ? 'instances' : part);

/** Resolves when all faults are over. */
export async function applyFaults(
  stage: Stage,
  faults: readonly Fault[],
  onBegin: (fault: Fault) => void,
): Promise<readonly Applied[]> {
  const startedMs = now();
  const acts = actsOn(stage);
  const busy = new Map<string, Promise<unknown>>();

  async function apply(fault: Fault): Promise<Applied> {
    const beganMs = now();
    onBegin(fault);
    const [harm, undo] = acts[fault.part][fault.harm]!;
    await harm();
    await wait(fault.forMs);
    await undo();
    return { ...fault, atMs: beganMs - startedMs, beganMs, overMs: now() };
  }

  return Promise.all(
    faults.map(async (fault) => {
      await wait(fault.atMs);
      const group = groupOf(fault.part);
      while (busy.has(group)) await busy.get(group);
      const applied = apply(fault);
      busy.set(group, applied);
      return applied.finally(() => busy.delete(group));
    }),
  );
}

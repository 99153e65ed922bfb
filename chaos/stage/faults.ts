/** Does to the stage what the plan says, and notes when each fault began and was over. */
import { setTimeout as wait } from 'node:timers/promises';
import { now } from '../../packages/testkit/fixtures/clock.ts';
import type { Instance } from '../../packages/testkit/servers/instance.ts';
import type { Fault, Harm, Part } from '../plan.ts';
import type { Stage } from './stage.ts';

export interface Applied extends Fault {
  readonly beganMs: number;
  /** When the part was there again, by what it says itself. */
  readonly overMs: number;
}

/** Does the harm, and gives what undoes it. */
type Act = (stage: Stage) => Promise<() => Promise<void> | void>;

const ofInstance = (index: 0 | 1): Partial<Record<Harm, Act>> => {
  const act =
    (work: (instance: Instance) => Promise<() => Promise<void> | void>): Act =>
    (stage) =>
      work(stage.instances[index]);
  return {
    kill: act(async (instance) => {
      await instance.kill();
      return instance.start;
    }),
    freeze: act(async (instance) => {
      instance.freeze();
      return instance.thaw;
    }),
    restart: act(async (instance) => {
      await instance.terminate();
      return instance.start;
    }),
  };
};

const ofServer = (name: 'primary' | 'standby'): Partial<Record<Harm, Act>> => ({
  kill: async ({ [name]: server }) => {
    await server.kill();
    return server.start;
  },
  freeze: async ({ [name]: server }) => {
    server.freeze();
    return server.thaw;
  },
  restart: async ({ [name]: server }) => {
    await server.stop('fast');
    return server.start;
  },
});

const ofWire = (name: 'redis' | 'primary'): Partial<Record<Harm, Act>> => ({
  silence: async ({ harmWire }) => {
    await harmWire(name, 'silence');
    return () => harmWire(name, 'go on');
  },
  slow: async ({ harmWire }) => {
    await harmWire(name, 'slow');
    return () => harmWire(name, 'fast');
  },
  'hang up': async ({ harmWire }) => {
    await harmWire(name, 'hang up');
    return () => {};
  },
});

const acts: Readonly<Record<Part, Partial<Record<Harm, Act>>>> = {
  'instance a': ofInstance(0),
  'instance b': ofInstance(1),
  redis: {
    ...ofWire('redis'),
    kill: async ({ redis }) => {
      await redis.kill();
      return redis.start;
    },
    freeze: async ({ redis }) => {
      redis.freeze();
      return redis.thaw;
    },
  },
  standby: ofServer('standby'),
  primary: { ...ofWire('primary'), ...ofServer('primary') },
  balancer: {
    reload: async ({ balancer }) => {
      balancer.reload();
      return () => {};
    },
  },
};

/** One befalls a part only when the one before it there is over; the instances are one in this. */
const groupOf = (part: Part) => (part.startsWith('instance') ? 'instances' : part);

/** Resolves when all are over. */
export async function applyFaults(
  stage: Stage,
  faults: readonly Fault[],
  began: (fault: Fault) => void,
): Promise<readonly Applied[]> {
  const startedMs = now();
  const busy = new Map<string, Promise<unknown>>();
  const running = faults.map(async (fault): Promise<Applied> => {
    await wait(fault.atMs);
    const group = groupOf(fault.part);
    while (busy.has(group)) await busy.get(group);
    const work = applyOne(stage, fault, began);
    busy.set(group, work);
    const applied = await work.finally(() => busy.delete(group));
    return { ...fault, ...applied };
  });
  const applied = await Promise.all(running);
  return applied.map((fault) => ({ ...fault, atMs: fault.beganMs - startedMs }));
}

async function applyOne(stage: Stage, fault: Fault, began: (fault: Fault) => void) {
  const beganMs = now();
  began(fault);
  const undo = await acts[fault.part][fault.harm]!(stage);
  await wait(fault.forMs);
  await undo();
  return { beganMs, overMs: now() };
}

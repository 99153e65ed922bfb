/** The plan of a run: which part fails, how, when and for how long. The seed decides it. */
import { type Chance, chanceOf } from '../../packages/testkit/model/chance.ts';

/** No faults at the start and at the end, where all requests must succeed. */
export const quietStartMs = 8_000;
export const quietEndMs = 15_000;

/** A restarted instance first drains for the default drain delay. */
const drainMs = 5_000;

const pauseMs = { shortest: 500, longest: 4_000 };
const chanceOfSecond = 0.4;

export type Part = 'instance a' | 'instance b' | 'admin' | 'redis' | 'standby' | 'primary' | 'balancer';
export type Harm = 'kill' | 'freeze' | 'restart' | 'silence' | 'slow' | 'hang up' | 'reload';

export interface Fault {
  readonly part: Part;
  readonly harm: Harm;
  /** From the start of the run. */
  readonly atMs: number;
  readonly forMs: number;
}

const harms: Readonly<Record<Part, Partial<Record<Harm, [shortestMs: number, longestMs: number]>>>> = {
  'instance a': { kill: [100, 4_000], freeze: [200, 6_000], restart: [0, 1_000] },
  'instance b': { kill: [100, 4_000], freeze: [200, 6_000], restart: [0, 1_000] },
  admin: { kill: [100, 4_000], freeze: [200, 6_000], restart: [0, 1_000] },
  // A killed Redis starts empty: it has no persistence.
  redis: {
    kill: [0, 4_000],
    freeze: [50, 5_000],
    silence: [50, 5_000],
    slow: [500, 4_000],
    'hang up': [0, 0],
  },
  standby: { kill: [100, 5_000], freeze: [200, 6_000], restart: [0, 1_000] },
  primary: {
    kill: [100, 3_000],
    freeze: [200, 5_000],
    restart: [0, 500],
    silence: [200, 5_000],
    'hang up': [0, 0],
  },
  balancer: { reload: [0, 0] },
};

/** All are equally likely. */
const kinds = (Object.keys(harms) as Part[]).flatMap((part) =>
  Object.entries(harms[part]).map(([harm, lengthMs]) => ({ part, harm: harm as Harm, lengthMs })),
);
type Kind = (typeof kinds)[number];

/** Faults follow each other. Some have a second fault at the same time, but never both instances. */
export function planOf(seed: number, minutes: number): readonly Fault[] {
  const chance = chanceOf(seed);
  const endMs = minutes * 60_000 - quietEndMs;
  const faults: Fault[] = [];
  let atMs = quietStartMs;
  while (true) {
    const first = faultOf(chance, kinds, atMs);
    const second =
      chance.fraction() < chanceOfSecond
        ? faultOf(chance, besides(first.part), atMs + chance.between(0, Math.max(200, first.forMs)))
        : undefined;
    const overMs = Math.max(overMsOf(first), second === undefined ? 0 : overMsOf(second));
    if (overMs > endMs) return faults;
    faults.push(first, ...(second === undefined ? [] : [second]));
    atMs = overMs + chance.between(pauseMs.shortest, pauseMs.longest);
  }
}

function faultOf(chance: Chance, choices: readonly Kind[], atMs: number): Fault {
  const { part, harm, lengthMs } = chance.oneOf(choices);
  return { part, harm, atMs, forMs: chance.between(...lengthMs) };
}

function overMsOf({ part, harm, atMs, forMs }: Fault): number {
  return atMs + forMs + ((isInstance(part) || part === 'admin') && harm === 'restart' ? drainMs : 0);
}

const isInstance = (part: Part) => part.startsWith('instance');

/** The faults that may happen together with a fault of this part. */
function besides(part: Part): readonly Kind[] {
  return kinds.filter((other) => other.part !== part && !(isInstance(part) && isInstance(other.part)));
}

export function describe({ part, harm, atMs, forMs }: Fault): string {
  const seconds = (ms: number) => (ms / 1_000).toFixed(1);
  return `${seconds(atMs).padStart(6)} s  ${harm} ${part}${forMs === 0 ? '' : ` for ${seconds(forMs)} s`}`;
}

/** The load that every contender gets: 16 connections, each of which always has a request under way. */

import { say } from '../../lib/program.ts';
import type { Generator, Request } from '../lib/load.ts';
import type { Listener } from '../lib/processes.ts';

/** Enough to keep a process busy, and few enough that no request waits long. */
const connections = 16;
/** The service sheds requests if it gets no CPU for a tenth of a second: then the load is repeated. */
const attempts = 5;

export interface Load {
  readonly name: string;
  readonly listener: Listener;
  readonly requests: readonly Request[];
  /** The status that all answers must have. */
  readonly status: number;
  /** How many answers a second may have another status. */
  readonly othersPerSecond?: number;
}

/**
 * Plays the load and resolves to the number of answers. `before` runs at the start of each attempt, so that
 * only the last attempt counts.
 */
export async function playLoad(
  generator: Generator,
  { name, listener, requests, status, othersPerSecond = 0 }: Load,
  seconds: number,
  before: () => void,
): Promise<number> {
  for (let attempt = 1; ; attempt += 1) {
    before();
    const [played] = await generator.play(listener, seconds, { requests, connections });
    const counts = Object.values(played!.answers).map(({ length }) => length);
    const all = counts.reduce((sum, count) => sum + count, 0);
    const others = all - (played!.answers[status]?.length ?? 0);
    if (all > others && others <= othersPerSecond * (seconds + 1)) return all;
    const problem = `${name}: ${others} of ${all} answers were not ${status}`;
    if (attempt === attempts) throw new Error(`${problem}.`);
    say(`${problem}; again.`);
  }
}

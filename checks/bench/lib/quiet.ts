/** Rounds that count only if the machine does nothing else. */
import { setTimeout as wait } from 'node:timers/promises';
import { say } from '../../lib/program.ts';
import { cpuSecondsOfFamily, cpuSecondsOfMachine } from './cpu.ts';
import type { Measurement } from './report.ts';

/** Other processes may take this share of a core. */
const mostOfOthers = 0.1;
const calmMs = 10_000;
const mostWaitMs = 3_600_000;

export type Rounds = ReturnType<typeof createRounds>;

/** With `isBusyAllowed`, every round counts, and the goal of a quiet machine is not met. */
export function createRounds(isBusyAllowed: boolean) {
  const shares: number[] = [];
  const giveUpMs = performance.now() + mostWaitMs;

  /** Does the work. Resolves to its result, and the share of a core that others took meanwhile. */
  async function besideOthers<Result>(work: () => Promise<Result>) {
    const others = () => cpuSecondsOfMachine() - cpuSecondsOfFamily(process.pid);
    const [startedMs, before] = [performance.now(), others()];
    const result = await work();
    return { result, share: ((others() - before) * 1_000) / (performance.now() - startedMs) };
  }

  return {
    /** Repeats the round until it was a quiet one. */
    async quiet<Result>(round: () => Promise<Result>): Promise<Result> {
      for (;;) {
        const { result, share } = await besideOthers(round);
        const isQuiet = share < mostOfOthers;
        say(`Other processes took ${share.toFixed(2)} of a core${isQuiet ? '.' : ': too much.'}`);
        if (isQuiet || isBusyAllowed) {
          shares.push(share);
          return result;
        }
        say('Waiting for a quiet machine.');
        while ((await besideOthers(() => wait(calmMs))).share >= mostOfOthers) {
          if (performance.now() > giveUpMs) throw new Error('The machine was busy for too long.');
        }
      }
    },

    /** What others took in the rounds that count: the goal is for the highest. */
    measurements: (): Measurement[] => {
      if (shares.length === 0) return [];
      const name = `other processes, most of ${shares.length} rounds`;
      return [{ name, figures: [Math.max(...shares)], unit: 'of a core', atMost: mostOfOthers }];
    },
  };
}

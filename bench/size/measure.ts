/** Measures the cost of each page, small and large in turn, so that disturbances affect both. */
import { chanceOf } from '../../chaos/chance.ts';
import { median, shuffled } from '../lib/statistics.ts';
import type { PageKind, SizedDatabase } from './pages.ts';

export interface Cost {
  readonly timeUs: number;
  readonly cpuUs: number | undefined;
  readonly blocks: number;
}

export interface Measured {
  readonly listing: string;
  readonly position: PageKind['position'];
  readonly small: Cost;
  readonly large: Cost;
}

interface Contender {
  readonly database: SizedDatabase;
  readonly kind: PageKind;
  readonly timesUs: number[];
  readonly cpuUs: number[];
}

/** Rounds that fill caches and do not count. */
const warmUpRounds = 50;

/** Medians over the rounds. Each round reads every kind of page once from both databases. */
export async function measure(
  small: SizedDatabase,
  large: SizedDatabase,
  rounds: number,
): Promise<Measured[]> {
  const chance = chanceOf(1).fraction;
  const warmUp = contendersOf(small, large);
  for (let round = 1; round <= warmUpRounds; round += 1) await playRound(warmUp, chance);
  const contenders = contendersOf(small, large);
  for (let round = 1; round <= rounds; round += 1) await playRound(contenders, chance);
  const measured: Measured[] = [];
  for (const [index, { listing, position }] of small.kinds.entries()) {
    const ofSmall = await costOf(contenders[index]!);
    const ofLarge = await costOf(contenders[small.kinds.length + index]!);
    measured.push({ listing, position, small: ofSmall, large: ofLarge });
  }
  return measured;
}

function contendersOf(...databases: SizedDatabase[]): Contender[] {
  return databases.flatMap((database) =>
    database.kinds.map((kind) => ({ database, kind, timesUs: [], cpuUs: [] })),
  );
}

async function playRound(contenders: readonly Contender[], chance: () => number): Promise<void> {
  for (const contender of shuffled(contenders, chance)) await takeTurn(contender, chance);
}

/**
 * Reads one page. Ten of the same kind in a row would favor the small database, which fits better into the
 * processor's caches (up to 1.3 to 1 was measured). In production, requests of many clients alternate.
 */
async function takeTurn({ database, kind, timesUs, cpuUs }: Contender, chance: () => number): Promise<void> {
  const ask = kind.asks[Math.floor(chance() * kind.asks.length)]!;
  const cpuBeforeUs = database.cpuTimeUs?.() ?? 0;
  const askedMs = performance.now();
  await ask(database.reads);
  timesUs.push((performance.now() - askedMs) * 1_000);
  if (database.cpuTimeUs !== undefined) cpuUs.push(database.cpuTimeUs() - cpuBeforeUs);
}

async function costOf({ database, kind, timesUs, cpuUs }: Contender): Promise<Cost> {
  return {
    timeUs: median(timesUs),
    cpuUs: cpuUs.length === 0 ? undefined : median(cpuUs),
    blocks: await database.countBlocks(kind),
  };
}

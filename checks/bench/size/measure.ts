/** Measures the cost of each page, small and large in turn, so that disturbances affect both. */
import { chanceOf } from '../../../packages/testkit/model/chance.ts';
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

/** Rounds that fill caches and do not count. */
const warmUpRounds = 50;

/** Medians over the rounds. Each round reads every kind of page once from both databases. */
export async function measure(
  small: SizedDatabase,
  large: SizedDatabase,
  rounds: number,
): Promise<Measured[]> {
  const random = chanceOf(1).fraction;
  const contenders = [small, large].flatMap((database) =>
    database.kinds.map((kind) => ({ database, kind, turns: [] as Turn[] })),
  );
  for (let round = -warmUpRounds; round < rounds; round += 1) {
    for (const { database, kind, turns } of shuffled(contenders, random)) {
      const turn = await takeTurn(database, kind, random);
      if (round >= 0) turns.push(turn);
    }
  }
  const costs: Cost[] = [];
  for (const { database, kind, turns } of contenders) {
    const timeUs = median(turns.map((turn) => turn.timeUs));
    const cpuUs = database.cpuTimeUs && median(turns.map((turn) => turn.cpuUs));
    costs.push({ timeUs, cpuUs, blocks: await database.countBlocks(kind) });
  }
  return small.kinds.map(({ listing, position }, index) => ({
    listing,
    position,
    small: costs[index]!,
    large: costs[small.kinds.length + index]!,
  }));
}

type Turn = Awaited<ReturnType<typeof takeTurn>>;

/**
 * Reads one page. Ten of the same kind in a row would favor the small database, which fits better into the
 * processor's caches (up to 1.3 to 1 was measured). In production, requests of many clients alternate.
 */
async function takeTurn({ reads, cpuTimeUs }: SizedDatabase, { queries }: PageKind, random: () => number) {
  const query = queries[Math.floor(random() * queries.length)]!;
  const cpuBeforeUs = cpuTimeUs?.() ?? 0;
  const startedMs = performance.now();
  await query(reads);
  const timeUs = (performance.now() - startedMs) * 1_000;
  return { timeUs, cpuUs: (cpuTimeUs?.() ?? 0) - cpuBeforeUs };
}

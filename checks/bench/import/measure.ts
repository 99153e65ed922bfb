/** Runs imports and bulk paths in turn, and compares their rates. */
import { temporaryFolder } from '../../../packages/testkit/fixtures/lifetime.ts';
import { programsFolder } from '../../../packages/testkit/servers/postgres-programs.ts';
import { startPostgres } from '../../../packages/testkit/servers/postgres-start.ts';
import { programsOnPath } from '../../../packages/testkit/servers/programs.ts';
import { say, wholeRun } from '../../lib/program.ts';
import type { Measurement } from '../lib/report.ts';
import type { Engine } from '../lib/service.ts';
import { type Order, writeData } from './data.ts';
import { type Loader, type Outcome, postgresLoader, sqliteLoader } from './engines.ts';

export const ways = ['bare', 'imported'] as const;
type Way = (typeof ways)[number];
/** Goals: the import reaches this share of the rate of the bare bulk path, within this memory. */
export const goals = { share: 0.5, megabytes: 220 };

interface Plan {
  readonly rows: number;
  readonly rounds: number;
  readonly engines: readonly Engine[];
  readonly orders: readonly Order[];
  readonly ways: readonly Way[];
  /** Runs a round, or repeats it. By default it runs once. */
  readonly inRound?: <Result>(round: () => Promise<Result>) => Promise<Result>;
}

async function loaderOf(engine: Engine, folder: string): Promise<Loader> {
  if (engine === 'sqlite') return sqliteLoader(folder);
  const [psql] = programsOnPath(['psql'], [programsFolder() ?? '']);
  if (psql === undefined) {
    throw new Error('psql was not found. Install the client programs of PostgreSQL.');
  }
  // Configured for bulk loading. Checkpoints run between the measurements only.
  const server = await startPostgres(wholeRun, {
    fsync: 'on',
    full_page_writes: 'on',
    autovacuum: 'off',
    wal_level: 'replica',
    shared_buffers: '512MB',
    max_wal_size: '32GB',
    wal_keep_size: '0',
    checkpoint_timeout: '1d',
  });
  return postgresLoader(server.url(), psql, folder);
}

export async function measureImports(plan: Plan): Promise<Measurement[]> {
  const { rows, rounds, engines, orders, ways, inRound = (round) => round() } = plan;
  const folder = temporaryFolder(wholeRun);
  const measured: Measurement[] = [];
  for (const engine of engines) {
    const loader = await loaderOf(engine, folder);
    for (const order of orders) {
      const files = await writeData(folder, rows, order);
      const outcomes: Record<Way, Outcome[]> = { bare: [], imported: [] };
      for (let round = 1; round <= rounds; round += 1) {
        const found = await inRound(async () => {
          const all: [Way, Outcome][] = [];
          for (const way of ways) all.push([way, await loader[way](files)]);
          return all;
        });
        for (const [way, outcome] of found) {
          outcomes[way].push(outcome);
          say(`${engine}, ${order}, round ${round}, ${way}: ${outcome.seconds.toFixed(1)} s`);
        }
      }
      const name = (what: string) => `${engine}, ${order}: ${what}`;
      const rates = (way: Way) => outcomes[way].map(({ seconds }) => rows / seconds);
      const peaks = outcomes.imported.map(({ peakMegabytes }) => peakMegabytes ?? 0);
      const rate = { name: name('imported'), figures: rates('imported'), unit: 'a second' };
      if (ways.includes('bare')) {
        const bare = { name: name('bare'), figures: rates('bare'), unit: 'a second' };
        measured.push(bare, { ...rate, over: bare.name, atLeast: goals.share });
      } else measured.push(rate);
      measured.push({
        name: name('peak'),
        figures: [Math.max(...peaks)],
        unit: 'MB',
        atMost: goals.megabytes,
      });
    }
  }
  return measured;
}

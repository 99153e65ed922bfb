/** Runs imports and bulk paths in turn, and compares their rates. */
import { temporaryFolder } from '../../../packages/testkit/fixtures/folder.ts';
import { programsFolder } from '../../../packages/testkit/servers/postgres-programs.ts';
import { startPostgres } from '../../../packages/testkit/servers/postgres-start.ts';
import { programsOnPath } from '../../../packages/testkit/servers/programs.ts';
import { say, wholeRun } from '../../lib/program.ts';
import { type Engine, engines } from '../lib/service.ts';
import { median } from '../lib/statistics.ts';
import { type DataFiles, type Order, orders, writeData } from './data.ts';
import { type Loader, type Outcome, postgresLoader, sqliteLoader } from './engines.ts';

export const ways = ['bare', 'imported'] as const;
type Way = (typeof ways)[number];
type Outcomes = Readonly<Record<Way, readonly Outcome[]>>;

/** Goal: the import reaches this share of the rate of the bare bulk path. */
export const leastShare = 0.5;

export interface Plan {
  readonly rows: number;
  readonly rounds: number;
  readonly engines: readonly Engine[];
  readonly orders: readonly Order[];
  readonly ways: readonly Way[];
}

export interface Measured {
  readonly engine: string;
  readonly order: Order;
  readonly outcomes: Outcomes;
}

/** The rate of the import as a share of the rate of the bare bulk path. */
export function shareOf(outcomes: Outcomes): number {
  const seconds = (of: Way) => median(outcomes[of].map((outcome) => outcome.seconds));
  return seconds('bare') / seconds('imported');
}

/** For `npm run bench -- speed`: at most 3 rounds, because a round takes minutes. */
export async function measureShares(rounds: number) {
  const measured = await measure({ rows: 1_000_000, rounds: Math.min(rounds, 3), engines, orders, ways });
  return measured.map(({ engine, order, outcomes }) => ({
    name: `${engine}, ${order}`,
    share: shareOf(outcomes),
  }));
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

export async function measure({ rows, rounds, engines, orders, ways }: Plan): Promise<Measured[]> {
  const folder = temporaryFolder(wholeRun);
  const data: [Order, DataFiles][] = [];
  for (const order of orders) data.push([order, await writeData(folder, rows, order)]);
  const measured: Measured[] = [];
  for (const engine of engines) {
    const loader = await loaderOf(engine, folder);
    for (const [order, files] of data) {
      const outcomes: Record<Way, Outcome[]> = { bare: [], imported: [] };
      for (let round = 1; round <= rounds; round += 1) {
        for (const way of ways) {
          const outcome = await loader[way](files);
          outcomes[way].push(outcome);
          say(`${loader.name}, ${order}, round ${round}, ${way}: ${outcome.seconds.toFixed(1)} s`);
        }
      }
      measured.push({ engine: loader.name, order, outcomes });
    }
  }
  return measured;
}

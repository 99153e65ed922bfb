/** Imports and bulk paths in turn, and how much of the rate of the one the other has. */
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { temporaryFolder } from '../../packages/testkit/fixtures/folder.ts';
import { programsFolder } from '../../packages/testkit/servers/postgres-programs.ts';
import { startPostgres } from '../../packages/testkit/servers/postgres-start.ts';
import { say, wholeRun } from '../lib/program.ts';
import { median } from '../lib/statistics.ts';
import { type DataFiles, type Order, writeData } from './data.ts';
import { type Engine, type Outcome, postgresEngine, sqliteEngine } from './engines.ts';

export const engines = ['sqlite', 'postgres'] as const;
export const ways = ['bare', 'ours', 'imported'] as const;
type Way = (typeof ways)[number];
type Outcomes = Readonly<Record<Way, readonly Outcome[]>>;

/** The import should have this much of the rate of the bare bulk path. */
export const leastShare = 1 / 3;

export interface Plan {
  readonly rows: number;
  readonly rounds: number;
  readonly engines: readonly (typeof engines)[number][];
  readonly orders: readonly Order[];
  readonly ways: readonly Way[];
}

export interface Measured {
  readonly engine: string;
  readonly order: Order;
  readonly outcomes: Outcomes;
}

/** How much of the rate of a way the import has. */
export function shareOf(outcomes: Outcomes, way: Way): number {
  const seconds = (of: Way) => median(outcomes[of].map((outcome) => outcome.seconds));
  return seconds(way) / seconds('imported');
}

/** As a server is set up for much data; a checkpoint comes between runs and not in them. */
async function startServer(): Promise<string> {
  const settings = { fsync: 'on', full_page_writes: 'on', autovacuum: 'off', wal_level: 'replica' };
  const sizes = {
    shared_buffers: '512MB',
    max_wal_size: '32GB',
    wal_keep_size: '0',
    checkpoint_timeout: '1d',
  };
  return (await startPostgres(wholeRun, { ...settings, ...sizes })).url();
}

function psqlProgram(): string {
  const folders = [programsFolder() ?? '', ...(process.env.PATH ?? '').split(delimiter)];
  const found = folders.map((folder) => join(folder, 'psql')).find((path) => existsSync(path));
  if (found === undefined)
    throw new Error('There is no psql here: install the client programs of PostgreSQL.');
  return found;
}

export async function measure({ rows, rounds, engines, orders, ways }: Plan): Promise<Measured[]> {
  const folder = temporaryFolder(wholeRun);
  const data: [Order, DataFiles][] = [];
  for (const order of orders) data.push([order, await writeData(folder, rows, order)]);
  const measured: Measured[] = [];
  for (const name of engines) {
    const engine: Engine =
      name === 'sqlite'
        ? sqliteEngine(folder)
        : await postgresEngine(await startServer(), psqlProgram(), folder);
    for (const [order, files] of data) {
      const outcomes: Record<Way, Outcome[]> = { bare: [], ours: [], imported: [] };
      for (let round = 1; round <= rounds; round += 1) {
        for (const way of ways) {
          const outcome = await engine[way](files);
          outcomes[way].push(outcome);
          say(`${engine.name}, ${order}, round ${round}, ${way}: ${outcome.seconds.toFixed(1)} s`);
        }
      }
      measured.push({ engine: engine.name, order, outcomes });
    }
  }
  return measured;
}

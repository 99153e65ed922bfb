/** The two ways to load a file, on each engine. */
import { createReadStream, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { readLines } from '../../../packages/operator/src/ingest/lines.ts';
import { parseDatabaseUrl, toUpdate } from '../../../packages/store/src/address.ts';
import { openStore } from '../../../packages/store/src/engines.ts';
import { executable } from '../../../packages/testkit/fixtures/run.ts';
import { onConnection } from '../../../packages/testkit/servers/postgres-start.ts';
import { outputOf } from '../lib/service.ts';
import { columns, type DataFiles } from './data.ts';

export interface Outcome {
  readonly seconds: number;
  /** Of the import's process. */
  readonly peakMegabytes?: number;
}

/** Each way starts with empty tables. */
export interface Loader {
  /** The engine's bulk path into a plain table. */
  bare(files: DataFiles): Promise<Outcome>;
  /** Our import command. */
  imported(files: DataFiles): Promise<Outcome>;
}

const peakProgram = new URL('./peak.ts', import.meta.url).href;
const columnList = columns.join(', ');

async function timed(work: () => Promise<unknown>): Promise<Outcome> {
  const startMs = performance.now();
  await work();
  return { seconds: (performance.now() - startMs) / 1_000 };
}

/** As an operator runs it, including the start of the process. */
async function runImport(url: string, file: string, folder: string): Promise<Outcome> {
  const peak = join(folder, 'peak');
  const words = ['import', 'balances', file, '--database', url];
  const environment = { PEAK_FILE: peak, NODE_OPTIONS: `--import ${peakProgram}` };
  const outcome = await timed(() => outputOf(executable, words, environment));
  return { ...outcome, peakMegabytes: Number(readFileSync(peak, 'utf8')) };
}

async function migrate(url: string): Promise<void> {
  await (await openStore(parseDatabaseUrl(url)!, 'production', toUpdate)).close();
}

export async function postgresLoader(url: string, psql: string, folder: string): Promise<Loader> {
  await migrate(url);
  const prepare = (...statements: string[]) =>
    onConnection(url, async (client) => {
      for (const statement of [...statements, 'checkpoint']) await client.query(statement);
    });
  const text = 'text collate "C" not null';
  const bareTable = `create table bare (
    customer_id ${text}, id ${text}, type ${text}, currency ${text}, amount bigint not null,
    created_at timestamptz(3) not null, updated_at timestamptz(3) not null, primary key (customer_id, id))`;
  return {
    bare: async ({ bulk }) => {
      await prepare('drop table if exists bare', bareTable);
      return timed(() => outputOf(psql, ['-q', url, '-c', `\\copy bare (${columnList}) from '${bulk}'`]));
    },
    imported: async ({ lines }) => {
      await prepare('truncate balances', 'drop table if exists bare');
      return runImport(url, lines, folder);
    },
  };
}

export function sqliteLoader(folder: string): Loader {
  const path = join(folder, 'bench.db');
  const newDatabase = async () => {
    for (const suffix of ['', '-wal', '-shm']) rmSync(path + suffix, { force: true });
    await migrate(`sqlite:${path}`);
    return path;
  };
  const bareTable = `create table bare (
    customer_id text not null, id text not null, type text not null, currency text not null,
    amount integer not null, created_at text not null, updated_at text not null,
    primary key (customer_id, id)) strict, without rowid`;
  return {
    bare: async ({ bulk }) => {
      const db = new DatabaseSync(await newDatabase());
      db.exec(bareTable);
      return timed(() => insertAll(db, bulk));
    },
    imported: async ({ lines }) => runImport(`sqlite:${await newDatabase()}`, lines, folder),
  };
}

/** Like `.import` of the sqlite3 shell: a prepared statement in one transaction. */
async function insertAll(db: DatabaseSync, file: string): Promise<void> {
  const places = columns.map(() => '?').join(', ');
  const statement = db.prepare(`insert into bare (${columnList}) values (${places})`);
  db.exec('begin immediate');
  for await (const lines of readLines(createReadStream(file, { highWaterMark: 2 ** 18 }))) {
    for (const { text } of lines) statement.run(...text.split('\t'));
  }
  db.exec('commit');
  db.close();
}

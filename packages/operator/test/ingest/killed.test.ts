/** Kills imports at random moments, and checks that each has written all of its lines or none. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { toCreate } from '../../../store/src/address.ts';
import { openSqlite } from '../../../store/src/sqlite/open.ts';
import { type Lifetime, temporaryFolder } from '../../../testkit/fixtures/lifetime.ts';
import { start } from '../../../testkit/fixtures/run.ts';
import { migratedDatabase } from '../../../testkit/service/database.ts';

/** `npm run check -- faults-import` kills a hundred larger imports, then a hundred with --delete-missing. */
const kills = Number(process.env.KILLS ?? 3);
const isLong = kills > 3;
const rows = isLong ? 20_000 : 2_000;

async function emptyFile(t: TestContext): Promise<string> {
  const path = join(temporaryFolder(t), 'test.db');
  await openSqlite(path, 'sandbox', toCreate).close();
  return `sqlite:${path}`;
}

for (const [engine, database] of [
  ['SQLite', emptyFile],
  ['Postgres', migratedDatabase],
] as const) {
  for (const deletesMissing of isLong ? [false, true] : [false]) {
    const flag = deletesMissing ? ' and --delete-missing' : '';
    test(`an import that is killed has written all of its lines or none, on ${engine}${flag}`, {
      timeout: 900_000,
    }, async (t) => {
      const url = await database(t);
      const { before, after, noticedMs } = await killImports(t, url, deletesMissing);
      t.diagnostic(`${before} wrote nothing, ${after} all; noticed after at most ${noticedMs.toFixed(0)} ms`);
      assert.equal(before + after, kills);
    });
  }
}

/** The balances table, read without the service. */
interface Table {
  query(statement: string): Promise<Record<string, unknown>[]>;
  /** Resolves when the database has no connection of an import left. */
  settled(): Promise<void>;
  close(): Promise<void>;
}

interface Killings {
  /** How often the table was in the state before the import, and how often in the state after it. */
  readonly before: number;
  readonly after: number;
  /** The longest time until the database noticed a killed import. */
  readonly noticedMs: number;
}

/**
 * Rejects at the first state that is neither. Every second line replaces or deletes a balance, the others are
 * new or delete what does not exist. Deletions are remembered, which is part of the state. With
 * --delete-missing, a third of the lines is not in the file.
 */
async function killImports(t: Lifetime, url: string, deletesMissing: boolean): Promise<Killings> {
  const table = await openTable(url);
  try {
    const folder = temporaryFolder(t);
    const where = ['--database', url, '--environment', 'sandbox'];
    const words = (file: string, ...more: string[]) => ['import', 'balances', file, ...where, ...more];
    const flags = deletesMissing ? ['--delete-missing', '--yes'] : [];
    const first = join(folder, 'first.jsonl');
    const second = join(folder, 'second.jsonl');
    const everySecond = (index: number) => index % 2 === 0;
    const notMissing = (index: number) => !deletesMissing || index % 3 > 0;
    writeFileSync(first, linesOf(1, everySecond));
    writeFileSync(second, linesOf(2, notMissing));
    await empty(table);
    await runToEnd(t, words(first));
    const before = await stateOf(table);
    await table.query(`create table kept as select ${columns} from balances`);
    // Half of the kills come at a random moment; the other half close in on the commit at the end.
    let endMs = await runToEnd(t, words(second, ...flags));
    const after = await stateOf(table);
    const counts = { before: 0, after: 0, noticedMs: 0 };
    for (let kill = 0; kill < kills; kill += 1) {
      await restore(table);
      const isAnywhere = kill % 2 === 0;
      await runFor(t, words(second, ...flags), isAnywhere ? endMs * Math.random() : endMs);
      const killedMs = performance.now();
      await table.settled();
      counts.noticedMs = Math.max(counts.noticedMs, performance.now() - killedMs);
      const state = await stateOf(table);
      if (state !== before && state !== after) throw new Error(`kill ${kill} left a table between: ${state}`);
      counts[state === before ? 'before' : 'after'] += 1;
      if (!isAnywhere) endMs *= state === before ? 1.1 : 0.95;
    }
    return counts;
  } finally {
    await table.query('drop table if exists kept');
    await table.close();
  }
}

const columns = 'customer_id, id, type, currency, amount, created_at, updated_at';

async function empty(table: Table): Promise<void> {
  await table.query('delete from balances');
  await table.query('delete from deleted_balances');
}

async function restore(table: Table): Promise<void> {
  await empty(table);
  await table.query(`insert into balances (${columns}) select ${columns} from kept`);
}

/**
 * Lines have fixed times, so that each import has the same result. The first half is in the order of the
 * table, in which rows are written as they are read; the second half is not, and has deletions.
 */
function linesOf(amount: number, isIncluded: (index: number) => boolean): string {
  const time = `2026-01-0${amount}T00:00:00.000Z`;
  let text = '';
  for (let index = 0; index < rows; index += 1) {
    if (!isIncluded(index)) continue;
    const id = String(index).padStart(9, '0');
    const isSorted = index < rows / 2;
    const key = { id, customer_id: isSorted ? 'a' : `c${index % 100}` };
    const isDeletion = amount === 2 && !isSorted && index % 4 < 2;
    const record = { ...key, type: 'CHECKING', currency: 'USD', amount, created_at: time, updated_at: time };
    text += `${JSON.stringify(isDeletion ? { ...key, deleted_at: time } : record)}\n`;
  }
  return text;
}

async function runToEnd(t: Lifetime, words: readonly string[]): Promise<number> {
  const startMs = performance.now();
  const status = await start(t, words).ended;
  if (status !== 0) throw new Error(`the import ended with status ${status}`);
  return performance.now() - startMs;
}

async function runFor(t: Lifetime, words: readonly string[], durationMs: number): Promise<void> {
  const { signal, ended } = start(t, words);
  await wait(durationMs);
  signal('SIGKILL');
  await ended;
}

/** The numbers of rows and deletions, and a digest of them. */
async function stateOf(table: Table): Promise<string> {
  const balances = await table.query('select record from balances order by customer_id, id');
  // Without the time: for --delete-missing it is the time of the import.
  const deletions = await table.query(
    'select customer_id, id from deleted_balances order by customer_id, id',
  );
  const digest = createHash('sha256');
  for (const { record } of balances) digest.update(`${record}\n`);
  for (const { customer_id, id } of deletions) digest.update(`${customer_id} ${id}\n`);
  return `${balances.length} ${deletions.length} ${digest.digest('hex')}`;
}

async function openTable(url: string): Promise<Table> {
  if (url.startsWith('sqlite:')) return openFile(url.slice('sqlite:'.length));
  const client = new pg.Client(url);
  await client.connect();
  const others = `select 1 from pg_stat_activity
    where application_name like 'partner-network%' and datname = current_database()`;
  return {
    query: async (statement) => (await client.query(statement)).rows,
    settled: async () => {
      while ((await client.query(others)).rowCount !== 0) await wait(5);
    },
    close: () => client.end(),
  };
}

function openFile(path: string): Table {
  const db = new DatabaseSync(path, { timeout: 10_000 });
  return {
    query: async (statement) => db.prepare(statement).all(),
    settled: async () => {},
    close: async () => db.close(),
  };
}

/**
 * A database of the test's own. The tests of HTTP and of the import run on both engines, one after the other;
 * TEST_ENGINE says on which.
 */
import { join } from 'node:path';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import type { TestContext } from 'node:test';
import { bounds } from '../../src/bounds.ts';
import { openStore, parseDatabaseUrl, type StoreOptions } from '../../src/store/open.ts';
import type { Reads, Store } from '../../src/store/port.ts';
import { createReads } from '../../src/store/sqlite/reads.ts';
import { temporaryFolder } from './folder.ts';
import type { Lifetime } from './lifetime.ts';
import { connectTo, databaseLike } from './postgres.ts';

export interface TestDatabase {
  readonly url: string;
  readonly store: Store;
  /** Runs a statement behind the store's back, and says how many rows it touched. */
  execute(statement: string, ...values: (string | number)[]): Promise<number>;
  /** Reads that a lock can keep out. */
  lockable(): Promise<{ reads: Reads; lock(table: string): Promise<() => Promise<void>> }>;
}

type Fill = (store: Store) => Promise<void>;

export const serveOptions: StoreOptions = {
  replicas: [],
  connections: bounds.postgresConnections,
  keepsSession: true,
};

export function openTestDatabase(
  t: TestContext,
  name: string,
  fill: Fill,
  engine = process.env.TEST_ENGINE,
): Promise<TestDatabase> {
  return engine === 'postgres' ? onPostgres(t, name, fill) : onSqlite(t, fill);
}

/** On Postgres, a database with the current schema and nothing in it. */
export function migratedDatabase(t: Lifetime): Promise<string> {
  return databaseLike(t, 'migrated', async (template) => {
    await (await openStore(parseDatabaseUrl(template)!, 'sandbox', 'migrate')).close();
  });
}

async function onSqlite(t: TestContext, fill: Fill): Promise<TestDatabase> {
  const path = join(temporaryFolder(t), 'test.db');
  const url = `sqlite:${path}`;
  const store = await openStore(parseDatabaseUrl(url)!, 'sandbox', 'create');
  t.after(() => store.close());
  await fill(store);
  const writer = new DatabaseSync(path, { timeout: 1_000 });
  // What it writes need not outlive the machine, and a test of thousands of writes would wait for the disk.
  writer.exec('pragma synchronous = off');
  t.after(() => writer.close());
  return {
    url,
    store,
    execute: async (statement, ...values) => {
      const named: Record<string, SQLInputValue> = {};
      for (const [index, value] of values.entries()) named[`$${index + 1}`] = value;
      return Number(writer.prepare(statement).run(named).changes);
    },
    // Readers are locked out only of a database without a write-ahead log, as a copy by vacuum is.
    lockable: async () => {
      const copy = join(temporaryFolder(t), 'copy.db');
      const source = new DatabaseSync(path);
      source.prepare('vacuum into ?').run(copy);
      source.close();
      const reader = new DatabaseSync(copy, { timeout: bounds.sqliteServeBusyMs });
      const locker = new DatabaseSync(copy);
      t.after(() => [reader, locker].map((db) => db.close()));
      return {
        // The key is found, so that the request gets as far as the limiter and the page.
        reads: { ...createReads(reader), findKey: store.findKey },
        lock: async () => {
          locker.exec('begin exclusive');
          return async () => locker.exec('rollback');
        },
      };
    },
  };
}

async function onPostgres(t: TestContext, name: string, fill: Fill): Promise<TestDatabase> {
  const url = await databaseLike(t, name, async (template) => {
    const store = await openStore(parseDatabaseUrl(template)!, 'sandbox', 'migrate');
    await fill(store);
    await store.close();
  });
  const store = await openStore(parseDatabaseUrl(url)!, 'sandbox', 'serve', serveOptions);
  t.after(() => store.close());
  const client = await connectTo(t, url);
  return {
    url,
    store,
    execute: async (statement, ...values) => (await client.query(statement, values)).rowCount ?? 0,
    lockable: async () => ({
      reads: store,
      lock: async (table) => {
        await client.query(`begin; lock table ${table} in access exclusive mode`);
        return async () => {
          await client.query('rollback');
        };
      },
    }),
  };
}

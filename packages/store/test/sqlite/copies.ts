/** Opens copies of an empty embedded database. A copy takes a fifth of the time of a new database. */
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { TestContext } from 'node:test';
import { temporaryFolder } from '../../../testkit/fixtures/lifetime.ts';
import { wholeFile } from '../../../testkit/servers/postgres.ts';
import { toCreate } from '../../src/address.ts';
import { openSqlite } from '../../src/sqlite/open.ts';
import type { OpenStore } from '../suite/suite.ts';

const template = join(temporaryFolder(wholeFile), 'template.db');
await openSqlite(template, 'sandbox', toCreate).close();

const paths = new WeakMap<TestContext, string>();

/** The path of a test's copy, the same one each time. */
export function copyOf(t: TestContext): string {
  const path = paths.get(t) ?? join(temporaryFolder(t), 'test.db');
  if (!paths.has(t)) copyFileSync(template, path);
  paths.set(t, path);
  return path;
}

/** A connection of a test, closed after it. */
export function connect(t: TestContext, path: string): DatabaseSync {
  const db = new DatabaseSync(path);
  t.after(() => db.close());
  return db;
}

export const openCopy: OpenStore = async (t, environment) => {
  const path = copyOf(t);
  const store = openSqlite(path, environment, toCreate);
  t.after(() => store.close());
  return store;
};

import type { TestContext } from 'node:test';
import { serveOptions } from '../../../../testkit/fixtures/database.ts';
import { emptyDatabaseOfWords } from '../../../../testkit/servers/postgres.ts';
import { openPostgres } from '../../../src/store/postgres/open.ts';
import { storeSuite } from '../suite/suite.ts';

const databases = new WeakMap<TestContext, Promise<string>>();

/** One database for each test. */
function databaseOf(t: TestContext): Promise<string> {
  const database = databases.get(t) ?? emptyDatabaseOfWords(t);
  databases.set(t, database);
  return database;
}

storeSuite('Postgres', async (t, environment) => {
  const store = await openPostgres([await databaseOf(t)], environment, 'migrate', serveOptions);
  t.after(() => store.close());
  return store;
});

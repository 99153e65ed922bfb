import type { TestContext } from 'node:test';
import type { Environment } from '@partner-network/contract/environments';
import { serveOptions } from '../../../../testkit/fixtures/database.ts';
import { emptyDatabaseOfWords } from '../../../../testkit/servers/postgres.ts';
import type { Store } from '../../../src/store/port.ts';
import { openPostgres } from '../../../src/store/postgres/open.ts';
import { importSuite, storeSuite } from '../suite/suite.ts';

const databases = new WeakMap<TestContext, Promise<string>>();

/** One database for each test. */
function databaseOf(t: TestContext): Promise<string> {
  const database = databases.get(t) ?? emptyDatabaseOfWords(t);
  databases.set(t, database);
  return database;
}

async function open(t: TestContext, environment: Environment): Promise<Store> {
  const store = await openPostgres([await databaseOf(t)], environment, 'migrate', serveOptions);
  t.after(() => store.close());
  return store;
}

storeSuite('Postgres', open);
importSuite('imports into Postgres', open);

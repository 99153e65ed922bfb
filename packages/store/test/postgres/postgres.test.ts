import type { TestContext } from 'node:test';
import type { Environment } from '@partner-network/contract/environments';
import { databaseLike, emptyDatabase, sortedByWords, toMigrate } from '../../../testkit/servers/postgres.ts';
import { fillDatabase, serveOptions } from '../../../testkit/service/database.ts';
import { type OpenOptions, toUpdate } from '../../src/address.ts';
import type { Store } from '../../src/port.ts';
import { openPostgres } from '../../src/postgres/open.ts';
import { importSuite, openingSuite, storeSuite } from '../suite/suite.ts';

/** Opens one database for each test. */
function opening(create: (t: TestContext) => Promise<string>, options: OpenOptions = toUpdate) {
  const databases = new WeakMap<TestContext, Promise<string>>();
  return async (t: TestContext, environment: Environment): Promise<Store> => {
    const database = databases.get(t) ?? create(t);
    databases.set(t, database);
    const store = await openPostgres([await database], environment, { ...options, ...serveOptions });
    t.after(() => store.close());
    return store;
  };
}

/** A copy of a migrated database takes a tenth of the time of a migration. */
const migrated = opening((t) =>
  databaseLike(t, 'words', (url) => fillDatabase(url, async () => {}), sortedByWords),
);

openingSuite(
  'opening Postgres',
  opening((t) => emptyDatabase(t, sortedByWords), toMigrate),
);
storeSuite('Postgres', migrated);
importSuite('imports into Postgres', migrated);

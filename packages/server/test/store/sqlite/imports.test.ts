import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { temporaryFolder } from '../../../../testkit/fixtures/folder.ts';
import { openSqlite } from '../../../src/store/sqlite/open.ts';
import { importSuite } from '../suite/suite.ts';

const paths = new WeakMap<TestContext, string>();

importSuite('imports into the embedded database', async (t, environment) => {
  const path = paths.get(t) ?? join(temporaryFolder(t), 'test.db');
  paths.set(t, path);
  const store = openSqlite(path, environment, 'create');
  t.after(() => store.close());
  return store;
});

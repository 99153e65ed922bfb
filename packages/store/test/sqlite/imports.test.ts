import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from '../../../testkit/fixtures/folder.ts';
import { toCreate } from '../../src/address.ts';
import { openSqlite } from '../../src/sqlite/open.ts';
import { plainBalance, writeRows } from '../suite/records.ts';
import { importSuite } from '../suite/suite.ts';
import { openCopy } from './copies.ts';

importSuite('imports into the embedded database', openCopy);

const dayMs = 86_400_000;
const balance = plainBalance('alice', 'a');
const deletion = (id: string) => ({ customer_id: 'alice', id, deleted_at: balance.updated_at });

for (const [days, staleLines] of [
  [89, 1],
  [91, 0],
] as const) {
  test(`a deletion that a feed wrote ${days} days ago makes ${staleLines} late lines stale`, async (t) => {
    const store = openSqlite(join(temporaryFolder(t), 'test.db'), 'sandbox', toCreate);
    t.after(() => store.close());
    const nowMs = Date.now();
    t.mock.timers.enable({ apis: ['Date'], now: nowMs - 300 * dayMs });
    const run = await store.beginImport('balances');
    t.mock.timers.setTime(nowMs - days * dayMs);
    await run.stage([deletion('a')]);
    await run.write({ mode: 'keep' });
    await run.end();
    t.mock.timers.setTime(nowMs);
    // The next deletion forgets old ones.
    await writeRows(store, 'balances', [deletion('b')]);
    assert.equal((await writeRows(store, 'balances', [balance])).stale, staleLines);
  });
}

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openTestDatabase } from '../../testkit/service/database.ts';
import { plainBalance, writeRows } from './suite/records.ts';

const dayMs = 86_400_000;
const balance = plainBalance('alice', 'a');
const deletion = (id: string) => ({ customer_id: 'alice', id, deleted_at: balance.updated_at });

for (const engine of ['sqlite', 'postgres']) {
  for (const [days, staleLines] of [
    [89, 1],
    [91, 0],
  ] as const) {
    test(`after ${days} days, a deletion makes ${staleLines} late lines stale (${engine})`, async (t) => {
      const { store } = await openTestDatabase(t, 'empty', async () => {}, engine);
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
}

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createdAt } from '../../testkit/fixtures/fixture.ts';
import { openTestDatabase } from '../../testkit/service/database.ts';
import type { ImportRow, Store } from '../src/port.ts';
import { plainBalance, writeRows } from './suite/records.ts';

const dayMs = 86_400_000;
const daysAgo = (days: number) => new Date(Date.now() - days * dayMs).toISOString();

const line = (id: string) => plainBalance('alice', id);
const deletion = (id: string): ImportRow => ({ customer_id: 'alice', id, deleted_at: createdAt });

async function countStale(store: Store, ...ids: string[]): Promise<number> {
  return (await writeRows(store, 'balances', ids.map(line))).stale;
}

for (const engine of ['sqlite', 'postgres']) {
  test(`remembers a deletion for 90 days from its import, on ${engine}`, async (t) => {
    const { store, execute } = await openTestDatabase(t, 'empty', async () => {}, engine);
    await writeRows(store, 'balances', ['a', 'b', 'c'].map(deletion));
    const age = (id: string, days: number) =>
      execute('update deleted_balances set recorded_at = $1 where id = $2', daysAgo(days), id);
    await age('a', 91);
    await age('b', 89);
    // The next import of a deletion forgets old ones.
    await writeRows(store, 'balances', [deletion('d')]);
    assert.equal(await countStale(store, 'b', 'c', 'd'), 3);
    assert.equal(await countStale(store, 'a'), 0);
  });
}

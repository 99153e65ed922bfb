import assert from 'node:assert/strict';
import { test } from 'node:test';
import { balances as fixtureBalances, keys } from '../../../testkit/fixtures/fixture.ts';
import { startTestService } from '../../../testkit/fixtures/service.ts';
import { importValues } from '../../src/ingest/import.ts';

const ofAlice = fixtureBalances.filter(({ customer_id }) => customer_id === 'alice');

test('sends every field in the order of its table, amounts exact to the cent', async (t) => {
  const { balances } = await startTestService(t);
  const { status, text } = await balances('?customer_id=alice&type=CHECKING', { key: keys.acme });
  assert.equal(status, 200);
  const fields = ['id', 'customer_id', 'type', 'currency', 'amount', 'created_at', 'updated_at'];
  assert.equal(text, JSON.stringify({ balances: ofAlice }, ['balances', ...fields]));
});

test('a grant opens the same page with and without its grant_id', async (t) => {
  const { balances } = await startTestService(t);
  const any = await balances('?customer_id=alice&type=CHECKING', { key: keys.acme });
  const named = await balances('?customer_id=alice&type=CHECKING&grant_id=g-active', { key: keys.acme });
  assert.equal(named.text, any.text);
});

test('a customer without balances but with a grant has an empty list', async (t) => {
  const { balances } = await startTestService(t);
  const { status, text } = await balances('?customer_id=without-balances&type=CHECKING', { key: keys.acme });
  assert.equal(status, 200);
  assert.equal(text, '{"balances":[]}');
});

test('pages through all balances, each exactly once', async (t) => {
  const { balances, store } = await startTestService(t);
  const many = Array.from({ length: 120 }, (_, amount) => ({
    customer_id: 'alice',
    type: 'CHECKING',
    currency: 'USD',
    amount,
  }));
  await importValues(store, 'balances', many);
  const ids: string[] = [];
  for (let cursor = ''; ; ) {
    const { text } = await balances(`?customer_id=alice&type=CHECKING&limit=7${cursor}`, { key: keys.acme });
    const page = JSON.parse(text);
    ids.push(...page.balances.map(({ id }: { id: string }) => id));
    if (page.cursor === undefined) break;
    cursor = `&cursor=${page.cursor}`;
  }
  assert.equal(ids.length, 123);
  assert.equal(new Set(ids).size, 123);
  assert.deepEqual(ids, ids.toSorted());
});

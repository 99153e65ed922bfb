import assert from 'node:assert/strict';
import { test } from 'node:test';
import { balances as fixtureBalances, keys } from '../../../testkit/fixtures/fixture.ts';
import { startTestService } from '../../../testkit/service/service.ts';

const ofAlice = fixtureBalances.filter(({ customer_id }) => customer_id === 'alice');

const query = '?customer_id=alice&type=CHECKING';

test('sends every field in the order of its table, amounts exact, with and without a grant_id', async (t) => {
  const { balances } = await startTestService(t);
  const fields = ['id', 'customer_id', 'type', 'currency', 'amount', 'created_at', 'updated_at'];
  for (const grant of ['', '&grant_id=g-active']) {
    const { status, text } = await balances(query + grant, { key: keys.acme });
    assert.equal(status, 200);
    assert.equal(text, JSON.stringify({ balances: ofAlice }, ['balances', ...fields]));
  }
  const none = await balances('?customer_id=without-balances&type=CHECKING', { key: keys.acme });
  assert.deepEqual([none.status, none.text], [200, '{"balances":[]}']);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { balances as fixtureBalances, future, keys } from '../../../testkit/fixtures/fixture.ts';
import { assertRefused, errorsOf } from '../../../testkit/fixtures/http.ts';
import { wholeFile } from '../../../testkit/servers/postgres.ts';
import { startTestService } from '../../../testkit/service/service.ts';

/** For the tests that only read. */
const { balances } = await startTestService(wholeFile);

const ofAlice = fixtureBalances.filter(({ customer_id }) => customer_id === 'alice');

const query = '?customer_id=alice&type=CHECKING';

test('sends every field in the order of its table, amounts exact, with and without a grant_id', async () => {
  const fields = ['id', 'customer_id', 'type', 'currency', 'amount', 'created_at', 'updated_at'];
  for (const grant of ['', '&grant_id=g-active']) {
    const { status, text } = await balances(query + grant, { key: keys.acme });
    assert.equal(status, 200);
    assert.equal(text, JSON.stringify({ balances: ofAlice }, ['balances', ...fields]));
  }
  const none = await balances('?customer_id=without-balances&type=CHECKING', { key: keys.acme });
  assert.deepEqual([none.status, none.text], [200, '{"balances":[]}']);
});

test('checks the parameters, then the cursor, then the grant', async () => {
  for (const [more, ...error] of [
    ['limit=0', 'VALUE_TOO_LOW', 'limit'],
    ['cursor=x', 'INVALID_CURSOR', 'cursor'],
    ['cursor=x&limit=0', 'VALUE_TOO_LOW', 'limit'],
  ] as const) {
    const answer = await balances(`?customer_id=nobody&type=CHECKING&${more}`, { key: keys.acme });
    assertRefused(answer, 400, error);
  }
});

test('says what to do about an empty value, by kind: required, optional, cursor', async () => {
  const answer = await balances('?customer_id=&type=CHECKING&grant_id=&cursor=', { key: keys.acme });
  const details = errorsOf(answer).map(({ detail }) => detail);
  assert.match(details[0]!, /^customer_id is empty: set it to a value\.$/);
  assert.match(details[1]!, /^grant_id is empty: set it to a value or leave it out\.$/);
  assert.match(details[2]!, /^cursor is empty: stop after /);
});

test('a grant is refused from the millisecond at which it expires', async (t) => {
  let now = Date.parse(future) - 1;
  const { balances } = await startTestService(t, { nowMs: () => now });
  const until = '?customer_id=without-balances&type=CHECKING&grant_id=g-nothing';
  assert.equal((await balances(until, { key: keys.acme })).status, 200);
  now += 1;
  assertRefused(await balances(until, { key: keys.acme }), 403, ['GRANT_EXPIRED', 'grant_id']);
});

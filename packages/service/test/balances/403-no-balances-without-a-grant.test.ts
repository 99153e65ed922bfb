import assert from 'node:assert/strict';
import { test } from 'node:test';
import { byTest, future, keys, past } from '../../../testkit/fixtures/fixture.ts';
import { assertRefused } from '../../../testkit/fixtures/http.ts';
import { startTestService } from '../../../testkit/service/service.ts';

const query = '?customer_id=alice&type=CHECKING';

test('the grant is checked on every page, not just the first', async (t) => {
  const { balances, store } = await startTestService(t);
  const first = JSON.parse((await balances(`${query}&limit=1`, { key: keys.acme })).text);
  await store.revokeGrant('alice', 'g-active', past, byTest);
  const next = await balances(`${query}&limit=1&cursor=${first.cursor}`, { key: keys.acme });
  assertRefused(next, 403, 'GRANT_NOT_FOUND');
  const named = await balances(`${query}&limit=1&grant_id=g-active&cursor=${first.cursor}`, {
    key: keys.acme,
  });
  assertRefused(named, 403, ['GRANT_REVOKED', 'grant_id']);
});

test('a grant is refused from the millisecond at which it expires', async (t) => {
  let now = Date.parse(future) - 1;
  const { balances } = await startTestService(t, { nowMs: () => now });
  const until = '?customer_id=without-balances&type=CHECKING&grant_id=g-nothing';
  assert.equal((await balances(until, { key: keys.acme })).status, 200);
  now += 1;
  assertRefused(await balances(until, { key: keys.acme }), 403, ['GRANT_EXPIRED', 'grant_id']);
});

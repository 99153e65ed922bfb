import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keys } from '../../../testkit/fixtures/fixture.ts';
import { startTestService } from '../../../testkit/fixtures/service.ts';

test('without a rate there is no limit and no rate header', async (t) => {
  const { balances } = await startTestService(t);
  for (let sent = 0; sent < 120; sent += 1) {
    const { status, headers } = await balances('?customer_id=alice&type=CHECKING', { key: keys.acme });
    assert.equal(status, 200);
    assert.equal(headers.ratelimit, undefined);
  }
});

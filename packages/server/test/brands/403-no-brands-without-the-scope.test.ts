import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keys } from '../../../testkit/fixtures/fixture.ts';
import { assertRefused } from '../../../testkit/fixtures/http.ts';
import { startTestService } from '../../../testkit/fixtures/service.ts';

test('a partner that is enabled again is served again', async (t) => {
  const { brands, store } = await startTestService(t);
  assertRefused(await brands('', { key: keys.closed }), 403, 'PARTNER_DISABLED');
  await store.setPartnerDisabled('closed', undefined);
  assert.equal((await brands('', { key: keys.closed })).status, 200);
});

test('judges the scope before the parameters', async (t) => {
  const { brands } = await startTestService(t);
  assertRefused(await brands('?limit=x', { key: keys.acmeBalancesOnly }), 403, 'INSUFFICIENT_SCOPES');
});

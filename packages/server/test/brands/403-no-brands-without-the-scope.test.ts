import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keys } from '../../../testkit/fixtures/fixture.ts';
import { assertRefused, errorsOf } from '../../../testkit/fixtures/http.ts';
import { startTestService } from '../../../testkit/fixtures/service.ts';

test('names the scope that the key lacks', async (t) => {
  const { brands } = await startTestService(t);
  const answer = await brands('', { key: keys.acmeBalancesOnly });
  assertRefused(answer, 403, 'INSUFFICIENT_SCOPES');
  assert.match(errorsOf(answer)[0]!.detail, /BRANDS_READ/);
});

test('refuses every key of a disabled partner, and takes it again when enabled', async (t) => {
  const { brands, store } = await startTestService(t);
  assertRefused(await brands('', { key: keys.closed }), 403, 'PARTNER_DISABLED');
  await store.setPartnerDisabled('closed', undefined);
  assert.equal((await brands('', { key: keys.closed })).status, 200);
});

test('judges the scope before the parameters', async (t) => {
  const { brands } = await startTestService(t);
  assertRefused(await brands('?limit=x', { key: keys.acmeBalancesOnly }), 403, 'INSUFFICIENT_SCOPES');
});

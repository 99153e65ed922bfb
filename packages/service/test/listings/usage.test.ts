/** What support reads later: the peaks of usage, and refused lists of brands. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refusalsPerMinute } from '@partner-network/contract/limits';
import { keys } from '../../../testkit/fixtures/fixture.ts';
import { createMemoryLimiter } from '../../src/limiter/rate-limit.ts';
import { startWithJournal } from './journal-scene.ts';

test('usage has the peak of a second, with and without a limit, and the longest answer', async (t) => {
  let clockMs = 10_000;
  const limiters = { brands: createMemoryLimiter(3, () => clockMs) };
  const { brands, balances, receipts, store } = await startWithJournal(t, { limiters });
  await brands('', { key: keys.acme });
  clockMs += 999;
  // A request that is refused later was admitted.
  await brands('?cursor=x', { key: keys.acme });
  await brands('', { key: keys.acmeBrandsOnly });
  assert.equal((await brands('', { key: keys.acme })).status, 429);
  clockMs += 5_000;
  await brands('', { key: keys.acme });
  await balances('?customer_id=alice&type=CHECKING', { key: keys.zenith });
  await receipts();
  const counted = await store.listUsage({ by: 'day', limit: 20 });
  const peaks = counted.map(({ key_id, operation, code, peak }) => [key_id, operation, code, peak].join(' '));
  assert.deepEqual(peaks.toSorted(), [
    'KEY_0 listBrands INVALID_CURSOR ',
    'KEY_0 listBrands OK 3',
    'KEY_0 listBrands RATE_LIMITED ',
    'KEY_1 listBrands OK 3',
    'KEY_8 listBalances OK 1',
  ]);
  for (const { code, slowest_ms } of counted) assert.equal(Number.isInteger(slowest_ms), code === 'OK');
});

test('a refused list of brands leaves a receipt, at most 60 a minute for a key and code', async (t) => {
  const minute = 60_000;
  let nowMs = Date.now() - (Date.now() % minute);
  const { brands, receipts } = await startWithJournal(t, { nowMs: () => nowMs });
  assert.equal((await brands('', { key: keys.acme })).status, 200);
  const first = await brands('?cursor=x', { key: keys.acme });
  for (let count = 1; count < refusalsPerMinute + 5; count += 1)
    await brands('?cursor=x', { key: keys.acme });
  await brands('?limit=x', { key: keys.acme });
  await brands('?cursor=x', { key: keys.zenith });
  nowMs += minute;
  await brands('?cursor=x', { key: keys.acme });
  const found = Object.groupBy(await receipts(), ({ key_id, outcome }) => `${key_id} ${outcome}`);
  const [ofMinute, ...others] = Object.entries(found).map(([name, { length = 0 } = []]) => [name, length]);
  assert.deepEqual([ofMinute, ...others].toSorted(), [
    ['KEY_0 EXPECTED_INTEGER', 1],
    ['KEY_0 INVALID_CURSOR', refusalsPerMinute + 1],
    ['KEY_8 INVALID_CURSOR', 1],
  ]);
  const receipt = (found['KEY_0 INVALID_CURSOR'] ?? []).find(
    ({ request_id }) => request_id === first.headers['x-request-id'],
  );
  assert.deepEqual(
    [receipt?.operation, receipt?.partner_id, receipt?.customer_id],
    ['listBrands', 'acme', undefined],
  );
});

/** Rules of the rate limit that hold for both listings. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMemoryLimiter } from '../../service/src/limiter/rate-limit.ts';
import { keys } from '../fixtures/fixture.ts';
import { assertRefused } from '../fixtures/http.ts';
import { startTestService } from '../service/service.ts';

export function isLimited(listing: 'brands' | 'balances', query: string): void {
  function startLimited(t: Parameters<typeof startTestService>[0], rate: number) {
    const clock = { ms: 5_000 };
    const limiters = { [listing]: createMemoryLimiter(rate, () => clock.ms) };
    return startTestService(t, { limiters }).then((service) => ({ service, clock }));
  }

  test('refuses a request over the rate, and says exactly when to retry', async (t) => {
    const { service, clock } = await startLimited(t, 3);
    for (const left of [2, 1, 0]) {
      const answer = await service[listing](query, { key: keys.acme });
      assert.equal(answer.status, 200);
      assert.equal(answer.headers.ratelimit, `"${listing}";r=${left};t=1`);
      clock.ms += 100.25;
    }
    const refused = await service[listing](query, { key: keys.acme });
    assertRefused(refused, 429, 'RATE_LIMITED');
    assert.equal(refused.headers['ratelimit-policy'], `"${listing}";q=3;w=1`);
    assert.equal(refused.headers.ratelimit, `"${listing}";r=0;t=1`);
    assert.equal(refused.headers['retry-after'], '1');
    assert.equal(refused.headers['retry-after-ms'], '700');

    clock.ms += Number(refused.headers['retry-after-ms']);
    assert.equal((await service[listing](query, { key: keys.acme })).status, 200);
    assertRefused(await service[listing](query, { key: keys.acme }), 429, 'RATE_LIMITED');
  });

  test('all keys of a partner count together, and those of other partners do not', async (t) => {
    const { service } = await startLimited(t, 2);
    const ownKey = listing === 'brands' ? keys.acmeBrandsOnly : keys.acmeBalancesOnly;
    assert.equal((await service[listing](query, { key: keys.acme })).status, 200);
    assert.equal((await service[listing](query, { key: ownKey })).status, 200);
    assertRefused(await service[listing](query, { key: ownKey }), 429, 'RATE_LIMITED');
    assert.notEqual((await service[listing](query, { key: keys.zenith })).status, 429);
  });

  test('a request that fails before the limiter does not count and has no rate headers', async (t) => {
    const { service } = await startLimited(t, 1);
    const otherScope = listing === 'brands' ? keys.acmeBalancesOnly : keys.acmeBrandsOnly;
    for (const answer of [
      await service[listing](query, { key: otherScope }),
      await service[listing](query, { method: 'OPTIONS' }),
      await service[listing](query, { method: 'POST', key: keys.acme }),
      await service[listing](query),
    ]) {
      assert.equal(answer.headers.ratelimit, undefined);
    }
    assert.equal((await service[listing](query, { key: keys.acme })).status, 200);
  });

  test('wrong parameters and HEAD requests count, and the limiter comes before the parameters', async (t) => {
    const { service } = await startLimited(t, 2);
    assert.equal((await service[listing]('?limit=x', { key: keys.acme })).status, 400);
    assert.equal((await service[listing](query, { key: keys.acme, method: 'HEAD' })).status, 200);
    assertRefused(await service[listing]('?limit=x', { key: keys.acme }), 429, 'RATE_LIMITED');
  });
}

/** The rules of credentials that hold for both listings. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { byTest, createdAt, keys, past } from '../fixtures/fixture.ts';
import { assertRefused, errorsOf } from '../fixtures/http.ts';
import { until } from '../fixtures/until.ts';
import { startTestService } from '../service/service.ts';

/** Tests that only a valid key gets through to a query that would otherwise be answered. */
export function requiresKey(listing: 'brands' | 'balances', query: string): void {
  const wrongChecksum = `${keys.acme.slice(0, -1)}${keys.acme.endsWith('A') ? 'B' : 'A'}`;
  const wrongCharacter = `${keys.live.slice(0, -1)}!`;

  const invalid: Record<string, string | string[] | undefined> = {
    'no credentials': undefined,
    'an empty header': '',
    'a bare scheme': 'Bearer',
    'a bare key': keys.acme,
    'another scheme': `Basic ${keys.acme}`,
    'something after the key': `Bearer ${keys.acme} x`,
    'two headers, both valid': [`Bearer ${keys.acme}`, `Bearer ${keys.acme}`],
    'a key that was never issued': `Bearer ${keys.neverIssued}`,
    'a key with a wrong checksum': `Bearer ${wrongChecksum}`,
    'a live key with a wrong character': `Bearer ${wrongCharacter}`,
    'a key in another case': `Bearer ${keys.acme.toUpperCase()}`,
  };

  test('answers UNAUTHORIZED without exactly one valid bearer token', async (t) => {
    const service = await startTestService(t);
    for (const [what, sent] of Object.entries(invalid)) {
      const answer = await service[listing](
        query,
        sent === undefined ? {} : { headers: { Authorization: sent } },
      );
      assertRefused(answer, 401, 'UNAUTHORIZED');
      assert.equal(answer.headers['www-authenticate'], 'Bearer', what);
    }
  });

  test('answers an expired, revoked or live key with its code: revoked first, then expired', async (t) => {
    const service = await startTestService(t);
    for (const [key, code] of [
      [keys.acmeExpired, 'API_KEY_EXPIRED'],
      [keys.acmeRevoked, 'API_KEY_REVOKED'],
      [keys.live, 'API_KEY_ENVIRONMENT_MISMATCH'],
      [keys.closedRevoked, 'API_KEY_REVOKED'],
      [keys.closedExpired, 'API_KEY_EXPIRED'],
    ] as const) {
      const answer = await service[listing](query, { key });
      assertRefused(answer, 401, code);
      assert.equal(answer.headers['www-authenticate'], 'Bearer');
      assert.equal(errorsOf(answer)[0]!.category, 'API_KEY_ERROR');
    }
  });

  test('a malformed key never reaches the database; other invalid keys cost the same query', async (t) => {
    const calls: string[] = [];
    const service = await startTestService(t, {
      reads: async ({ store }) =>
        new Proxy(store, {
          get: (target, name) => {
            calls.push(String(name));
            return Reflect.get(target, name);
          },
        }),
    });
    calls.length = 0;
    for (const key of [wrongChecksum, wrongCharacter, keys.live, 'x']) await service[listing](query, { key });
    assert.deepEqual(calls, []);
    for (const key of [keys.neverIssued, keys.acmeRevoked, keys.acmeExpired, keys.closed]) {
      calls.length = 0;
      await service[listing](query, { key });
      assert.deepEqual(calls, ['findKey']);
    }
  });

  test('a key that is revoked is refused within a second', async (t) => {
    const service = await startTestService(t);
    assert.equal((await service[listing](query, { key: keys.acme })).status, 200);
    await service.store.revokeKey('KEY_0', createdAt, byTest);
    await until(1_000, async () => (await service[listing](query, { key: keys.acme })).status === 401);
    assertRefused(await service[listing](query, { key: keys.acme }), 401, 'API_KEY_REVOKED');
  });

  test('a key is refused from the moment at which it expires', async (t) => {
    let now = Date.parse(past) - 1;
    const service = await startTestService(t, { nowMs: () => now });
    assert.equal((await service[listing](query, { key: keys.acmeExpired })).status, 200);
    now += 1;
    assertRefused(await service[listing](query, { key: keys.acmeExpired }), 401, 'API_KEY_EXPIRED');
  });

  test('checks the credentials before the parameters', async (t) => {
    const service = await startTestService(t);
    assertRefused(await service[listing]('?limit=x'), 401, 'UNAUTHORIZED');
  });

  test('neither the answer nor the log contains the key', async (t) => {
    const service = await startTestService(t);
    for (const key of [keys.acme, keys.neverIssued, keys.live, keys.acmeRevoked]) {
      const { text, headers } = await service[listing](query, { key });
      const seen = text + JSON.stringify(headers) + service.logs();
      assert.ok(!seen.includes(key) && !seen.includes(key.slice(8, 40)));
    }
  });
}

/** The rules of credentials that hold for both listings. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createdAt, keys, past } from '../fixtures/fixture.ts';
import { assertRefused, errorsOf } from '../fixtures/http.ts';
import { startTestService } from '../fixtures/service.ts';
import { until } from '../fixtures/until.ts';

/** Tests that only a valid key gets through to a query that would otherwise be answered. */
export function requiresKey(listing: 'brands' | 'balances', query: string): void {
  const flipped = `${keys.acme.slice(0, -1)}${keys.acme.endsWith('A') ? 'B' : 'A'}`;

  for (const [promise, headers] of Object.entries<Record<string, string | string[]>>({
    'no credentials': {},
    'an empty header': { Authorization: '' },
    'a bare scheme': { Authorization: 'Bearer' },
    'a bare key': { Authorization: keys.acme },
    'another scheme': { Authorization: `Basic ${keys.acme}` },
    'something after the key': { Authorization: `Bearer ${keys.acme} x` },
    'two headers, both valid': { Authorization: [`Bearer ${keys.acme}`, `Bearer ${keys.acme}`] },
    'a key that was never issued': { Authorization: `Bearer ${keys.neverIssued}` },
    'a key that fails its checksum': { Authorization: `Bearer ${flipped}` },
    'a live key that fails its checksum': { Authorization: `Bearer ${keys.live.slice(0, -1)}!` },
    'a key in another case': { Authorization: `Bearer ${keys.acme.toUpperCase()}` },
  })) {
    test(`answers UNAUTHORIZED to ${promise}`, async (t) => {
      const service = await startTestService(t);
      const answer = await service[listing](query, { headers });
      assertRefused(answer, 401, 'UNAUTHORIZED');
      assert.equal(answer.headers['www-authenticate'], 'Bearer');
    });
  }

  for (const [code, key] of [
    ['API_KEY_EXPIRED', keys.acmeExpired],
    ['API_KEY_REVOKED', keys.acmeRevoked],
    ['API_KEY_ENVIRONMENT_MISMATCH', keys.live],
  ] as const) {
    test(`answers ${code} to such a key`, async (t) => {
      const service = await startTestService(t);
      const answer = await service[listing](query, { key });
      assertRefused(answer, 401, code);
      assert.equal(answer.headers['www-authenticate'], 'Bearer');
      assert.equal(errorsOf(answer)[0]!.category, 'API_KEY_ERROR');
    });
  }

  test('revoked counts before expired, and expired before disabled', async (t) => {
    const service = await startTestService(t);
    assertRefused(await service[listing](query, { key: keys.closedRevoked }), 401, 'API_KEY_REVOKED');
    assertRefused(await service[listing](query, { key: keys.closedExpired }), 401, 'API_KEY_EXPIRED');
  });

  test("the scheme's case does not matter", async (t) => {
    const service = await startTestService(t);
    for (const scheme of ['bearer', 'BEARER', 'bEaReR ']) {
      const { status } = await service[listing](query, {
        headers: { Authorization: `${scheme} ${keys.acme}` },
      });
      assert.equal(status, 200);
    }
  });

  test('a malformed key never reaches the database', async (t) => {
    let asked = 0;
    const service = await startTestService(t, {
      reads: async ({ store }) => ({
        ...store,
        findKey: (digest) => {
          asked += 1;
          return store.findKey(digest);
        },
      }),
    });
    for (const key of [flipped, keys.live, 'x', `${keys.live.slice(0, -1)}!`])
      await service[listing](query, { key });
    assert.equal(asked, 0);
    await service[listing](query, { key: keys.acme });
    assert.equal(asked, 1);
  });

  test('an unknown key asks the database for as much as one that is on file and refused', async (t) => {
    const asked: string[] = [];
    const service = await startTestService(t, {
      reads: async ({ store }) =>
        new Proxy(store, {
          get: (target, name) => {
            asked.push(String(name));
            return Reflect.get(target, name);
          },
        }),
    });
    for (const key of [keys.neverIssued, keys.acmeRevoked, keys.acmeExpired, keys.closed]) {
      asked.length = 0;
      await service[listing](query, { key });
      assert.deepEqual(asked, ['findKey']);
    }
  });

  test('a key that is revoked is refused within a second', async (t) => {
    const service = await startTestService(t);
    assert.equal((await service[listing](query, { key: keys.acme })).status, 200);
    await service.store.revokeKey('KEY_0', createdAt);
    await until(1_000, async () => (await service[listing](query, { key: keys.acme })).status === 401);
    assertRefused(await service[listing](query, { key: keys.acme }), 401, 'API_KEY_REVOKED');
  });

  test('a key is over from the very moment at which it expires', async (t) => {
    let now = Date.parse(past) - 1;
    const service = await startTestService(t, { nowMs: () => now });
    assert.equal((await service[listing](query, { key: keys.acmeExpired })).status, 200);
    now += 1;
    assertRefused(await service[listing](query, { key: keys.acmeExpired }), 401, 'API_KEY_EXPIRED');
  });

  test('judges the credentials before the parameters', async (t) => {
    const service = await startTestService(t);
    assertRefused(await service[listing]('?limit=x'), 401, 'UNAUTHORIZED');
  });

  test('says nothing of the key in the answer or the log', async (t) => {
    const service = await startTestService(t);
    for (const key of [keys.acme, keys.neverIssued, keys.live, keys.acmeRevoked]) {
      const { text, headers } = await service[listing](query, { key });
      const seen = text + JSON.stringify(headers) + service.logs();
      assert.ok(!seen.includes(key) && !seen.includes(key.slice(8, 40)));
    }
  });
}

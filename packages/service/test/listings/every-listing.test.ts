/** The promises that every listing keeps. What is particular to one listing is in its own file. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { filtersOf, listingByName } from '@partner-network/contract/operations';
import { httpBounds } from '../../../common/src/bounds/http.ts';
import { storeBounds } from '../../../common/src/bounds/store.ts';
import { byTest, createdAt, keys } from '../../../testkit/fixtures/fixture.ts';
import { assertRefused, assertUnavailable, errorsOf } from '../../../testkit/fixtures/http.ts';
import type { Lifetime } from '../../../testkit/fixtures/lifetime.ts';
import { until } from '../../../testkit/fixtures/until.ts';
import { wholeFile } from '../../../testkit/servers/postgres.ts';
import type { TestDatabase } from '../../../testkit/service/database.ts';
import { startTestService } from '../../../testkit/service/service.ts';
import { createMemoryLimiter } from '../../src/limiter/rate-limit.ts';

const listings = [
  ['brands', '?limit=1', keys.acmeBrandsOnly, keys.acmeBalancesOnly],
  ['balances', '?limit=1&customer_id=alice&type=CHECKING', keys.acmeBalancesOnly, keys.acmeBrandsOnly],
] as const;

/** For the tests that only read. */
const shared = await startTestService(wholeFile);

for (const [listing, query, keyWithScope, keyWithoutScope] of listings) {
  suite(listing, () => {
    const list = shared[listing];

    test('HEAD answers with the headers of GET and no body', async () => {
      const get = await list(query, { key: keys.acme });
      const head = await list(query, { key: keys.acme, method: 'HEAD' });
      assert.deepEqual([head.status, head.text], [200, '']);
      assert.equal(head.headers['content-length'], get.headers['content-length']);
    });

    test('every filter selects records: a value that no record has changes the answer', async () => {
      const all = await list(query, { key: keys.acme });
      for (const name of filtersOf(listingByName[listing])) {
        const search = new URLSearchParams(query);
        search.set(name, 'of no record');
        const answer = await list(`?${search}`, { key: keys.acme });
        assert.notEqual(
          answer.text,
          all.text,
          `${name} has no effect: use it in listings.ts and both stores`,
        );
      }
    });

    test('without exactly one key that was issued it is UNAUTHORIZED, whatever the parameters', async () => {
      const twice = { Authorization: [`Bearer ${keys.acme}`, `Bearer ${keys.acme}`] };
      for (const credentials of [{}, { headers: twice }, { key: keys.neverIssued }]) {
        for (const anyQuery of [query, '?limit=x']) {
          const answer = await list(anyQuery, credentials);
          assertRefused(answer, 401, 'UNAUTHORIZED');
          assert.equal(answer.headers['www-authenticate'], 'Bearer');
        }
      }
    });

    test('answers an expired, revoked or live key with its code', async () => {
      for (const [key, code] of [
        [keys.acmeExpired, 'API_KEY_EXPIRED'],
        [keys.acmeRevoked, 'API_KEY_REVOKED'],
        [keys.live, 'API_KEY_ENVIRONMENT_MISMATCH'],
      ] as const) {
        const answer = await list(query, { key });
        assertRefused(answer, 401, code);
        assert.equal(answer.headers['www-authenticate'], 'Bearer');
        assert.equal(errorsOf(answer)[0]!.category, 'API_KEY_ERROR');
      }
    });

    test('checks the scope before the parameters, and names the scope that the key lacks', async () => {
      for (const anyQuery of [query, '?limit=x']) {
        const answer = await list(anyQuery, { key: keyWithoutScope });
        assertRefused(answer, 403, 'INSUFFICIENT_SCOPES');
        assert.ok(errorsOf(answer)[0]!.detail.includes(listingByName[listing].permission));
      }
    });

    test('neither the answer nor the log contains the key', async () => {
      for (const key of [keys.acme, keys.neverIssued, keys.live, keys.acmeRevoked]) {
        const { text, headers } = await list(query, { key });
        const seen = text + JSON.stringify(headers) + shared.logs();
        assert.ok(!seen.includes(key) && !seen.includes(key.slice(8, 40)));
      }
    });

    test('a cursor that is changed, cut, padded or doubled is refused', async () => {
      const { cursor } = JSON.parse((await list(query, { key: keys.acme })).text);
      const send = (text: string) => list(`${query}&cursor=${encodeURIComponent(text)}`, { key: keys.acme });
      assert.equal((await send(cursor)).status, 200);
      const flipped = Buffer.from(cursor, 'base64url');
      flipped[20]! ^= 1;
      const changed = [`${cursor}=`, `${cursor}A`, cursor + cursor, `${cursor} `, cursor.slice(0, -1), 'A'];
      for (const text of [...changed, flipped.toString('base64url')]) {
        assertRefused(await send(text), 400, ['INVALID_CURSOR', 'cursor']);
      }
    });

    test('a cursor does not replace the credentials', async () => {
      const { cursor } = JSON.parse((await list(query, { key: keys.acme })).text);
      assertRefused(await list(`${query}&cursor=${cursor}`), 401, 'UNAUTHORIZED');
    });

    test('refuses every key of a disabled partner, until the partner is enabled again', async (t) => {
      const { [listing]: list, store } = await startTestService(t);
      assertRefused(await list(query, { key: keys.closed }), 403, 'PARTNER_DISABLED');
      await store.setPartnerDisabled('closed', undefined, byTest);
      assert.notEqual(errorsOf(await list(query, { key: keys.closed }))?.[0]?.code, 'PARTNER_DISABLED');
    });

    test('a malformed key never reaches the database; other invalid keys cost the same query', async (t) => {
      const calls: string[] = [];
      const { [listing]: list } = await startTestService(t, {
        reads: async ({ store }) => {
          const named = Object.entries(store).map(([name, part]) => {
            const called = (...values: unknown[]) => {
              calls.push(name);
              return part(...values);
            };
            return [name, typeof part === 'function' ? called : part];
          });
          return Object.fromEntries(named);
        },
      });
      calls.length = 0;
      for (const key of [`${keys.acme.slice(0, -1)}!`, keys.live, 'x']) await list(query, { key });
      assert.deepEqual(calls, []);
      for (const key of [keys.neverIssued, keys.acmeRevoked, keys.acmeExpired, keys.closed]) {
        calls.length = 0;
        await list(query, { key });
        assert.deepEqual(calls, ['findKey']);
      }
    });

    test('a key that is revoked is refused within a second', async (t) => {
      const { [listing]: list, store } = await startTestService(t);
      assert.equal((await list(query, { key: keys.acme })).status, 200);
      await store.revokeKey('KEY_0', createdAt, byTest);
      await until(1_000, async () => (await list(query, { key: keys.acme })).status === 401);
      assertRefused(await list(query, { key: keys.acme }), 401, 'API_KEY_REVOKED');
    });

    async function startLimited(t: Lifetime, rate: number) {
      const clock = { ms: 5_000 };
      const limiters = { [listing]: createMemoryLimiter(rate, () => clock.ms) };
      return { list: (await startTestService(t, { limiters }))[listing], clock };
    }

    test('refuses a request over the rate, and says exactly when to retry', async (t) => {
      const { list, clock } = await startLimited(t, 3);
      for (const left of [2, 1, 0]) {
        const answer = await list(query, { key: keys.acme });
        assert.equal(answer.status, 200);
        assert.equal(answer.headers.ratelimit, `"${listing}";r=${left};t=1`);
        clock.ms += 100.25;
      }
      const refused = await list(query, { key: keys.acme });
      assertRefused(refused, 429, 'RATE_LIMITED');
      assert.equal(refused.headers['ratelimit-policy'], `"${listing}";q=3;w=1`);
      assert.equal(refused.headers.ratelimit, `"${listing}";r=0;t=1`);
      assert.deepEqual([refused.headers['retry-after'], refused.headers['retry-after-ms']], ['1', '700']);
      clock.ms += Number(refused.headers['retry-after-ms']);
      assert.equal((await list(query, { key: keys.acme })).status, 200);
      assertRefused(await list(query, { key: keys.acme }), 429, 'RATE_LIMITED');
    });

    test('all keys of a partner count together, and those of other partners do not', async (t) => {
      const { list } = await startLimited(t, 2);
      assert.equal((await list(query, { key: keys.acme })).status, 200);
      assert.equal((await list(query, { key: keyWithScope })).status, 200);
      assertRefused(await list(query, { key: keyWithScope }), 429, 'RATE_LIMITED');
      assert.notEqual((await list(query, { key: keys.zenith })).status, 429);
    });

    test('wrong parameters and HEAD count, and what fails before the limiter does not', async (t) => {
      const { list } = await startLimited(t, 2);
      for (const answer of [
        await list(query, { key: keyWithoutScope }),
        await list(query, { method: 'OPTIONS' }),
        await list(query, { method: 'POST', key: keys.acme }),
        await list(query),
      ]) {
        assert.equal(answer.headers.ratelimit, undefined);
      }
      assert.equal((await list('?limit=x', { key: keys.acme })).status, 400);
      assert.equal((await list(query, { key: keys.acme, method: 'HEAD' })).status, 200);
      assertRefused(await list('?limit=x', { key: keys.acme }), 429, 'RATE_LIMITED');
    });

    test('a fault shows the client the request id and nothing else', async (t) => {
      const service = await startTestService(t, { limiters: { [listing]: createMemoryLimiter(50) } });
      await service.database.execute(`drop table ${listing}`);
      const answer = await service[listing](query, { key: keys.acme });
      assertRefused(answer, 500, 'INTERNAL_SERVER_ERROR');
      const requestId = String(answer.headers['x-request-id']);
      assert.ok(errorsOf(answer)[0]!.detail.includes(requestId));
      assert.doesNotMatch(answer.text, /table|sql|select|\.ts/i);
      assert.equal(answer.headers.ratelimit, `"${listing}";r=49;t=1`);
      const line = service
        .logs()
        .split('\n')
        .find((text) => /no such table|does not exist/.test(text));
      assert.ok(line?.includes(requestId), 'the log has the fault with the request id');
      assert.equal((await service.call('/docs')).status, 200, 'the process lives on');
    });

    test('a database that cannot answer is a 503 with Retry-After, for all within 2 s', async (t) => {
      let lock: Awaited<ReturnType<TestDatabase['lockable']>>['lock'];
      const { [listing]: list } = await startTestService(t, {
        limiters: { [listing]: createMemoryLimiter(50) },
        reads: async (database) => {
          const lockable = await database.lockable();
          lock = lockable.lock;
          return lockable.reads;
        },
      });
      assert.equal((await list(query, { key: keys.acme })).status, 200);
      const release = await lock!(listing);
      const startedMs = performance.now();
      // A busy machine holds up this timer as it holds up the answers, which are due soon after it.
      const heldUp = wait(httpBounds.answerMs).then(
        () => performance.now() - startedMs - httpBounds.answerMs,
      );
      const answers = await Promise.all(Array.from({ length: 40 }, () => list(query, { key: keys.acme })));
      const answeredMs = performance.now() - startedMs;
      for (const answer of answers) assertUnavailable(answer);
      assert.ok(answeredMs - (await heldUp) < 2_000);
      // Without a free connection a request may be shed before the rate limit.
      const limited = answers.filter(({ headers }) => /;r=\d+;t=1$/.test(String(headers.ratelimit)));
      assert.ok(limited.length >= 10, `${limited.length} of them count`);
      await release();
      await wait(storeBounds.sqliteServeBusyMs);
      assert.equal((await list(query, { key: keys.acme })).status, 200, 'it recovers by itself');
    });
  });
}

/** The promises that every listing keeps. What is particular to one listing is in its own file. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { filtersOf, listingByName } from '@partner-network/contract/operations';
import { httpBounds } from '../../../common/src/bounds/http.ts';
import { storeBounds } from '../../../common/src/bounds/store.ts';
import { keys } from '../../../testkit/fixtures/fixture.ts';
import { assertRefused, assertUnavailable, errorsOf } from '../../../testkit/fixtures/http.ts';
import type { Lifetime } from '../../../testkit/fixtures/lifetime.ts';
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

    test('a cursor does not replace the credentials', async () => {
      const { cursor } = JSON.parse((await list(query, { key: keys.acme })).text);
      assertRefused(await list(`${query}&cursor=${cursor}`), 401, 'UNAUTHORIZED');
    });

    async function startLimited(t: Lifetime, rate: number) {
      const limiters = { [listing]: createMemoryLimiter(rate, () => 5_000) };
      return (await startTestService(t, { limiters }))[listing];
    }

    test('all keys of a partner count together, and those of other partners do not', async (t) => {
      const list = await startLimited(t, 2);
      assert.equal((await list(query, { key: keys.acme })).status, 200);
      assert.equal((await list(query, { key: keyWithScope })).status, 200);
      assertRefused(await list(query, { key: keyWithScope }), 429, 'RATE_LIMITED');
      assert.notEqual((await list(query, { key: keys.zenith })).status, 429);
    });

    test('wrong parameters and HEAD count, and what fails before the limiter does not', async (t) => {
      const list = await startLimited(t, 2);
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

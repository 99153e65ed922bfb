/** What clients of both listings see when the database really fails. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { storeBounds } from '../../common/src/bounds/store.ts';
import { createMemoryLimiter } from '../../service/src/limiter/rate-limit.ts';
import { keys } from '../fixtures/fixture.ts';
import { assertRefused, assertUnavailable, errorsOf } from '../fixtures/http.ts';
import type { TestDatabase } from '../service/database.ts';
import { startTestService } from '../service/service.ts';

type Listing = 'brands' | 'balances';

/** Drops the listing's table behind the service's back. */
export function survivesCrash(listing: Listing, query: string): void {
  test('a fault shows the client the request id and nothing else', async (t) => {
    const service = await startTestService(t, { limiters: { [listing]: createMemoryLimiter(50) } });
    await service.database.execute(`drop table ${listing}`);

    const answer = await service[listing](query, { key: keys.acme });
    assertRefused(answer, 500, 'INTERNAL_SERVER_ERROR');
    const requestId = String(answer.headers['x-request-id']);
    const [error] = errorsOf(answer);
    assert.ok(error!.detail.includes(requestId));
    assert.doesNotMatch(answer.text, /table|sql|select|\.ts/i);
    assert.equal(answer.headers.ratelimit, `"${listing}";r=49;t=1`);
    const lines = service.logs().split('\n');
    const line = lines.find((text) => /no such table|does not exist/.test(text));
    assert.ok(line?.includes(requestId), 'the log has the fault with the request id');

    assert.equal((await service.call('/assets/brand-placeholder.png')).status, 200, 'the process lives on');
  });
}

export function answersWhileLocked(listing: Listing, query: string): void {
  test('a database that cannot answer is a 503 with Retry-After, for every client within 2 s', async (t) => {
    let lock: Awaited<ReturnType<TestDatabase['lockable']>>['lock'];
    const service = await startTestService(t, {
      limiters: { [listing]: createMemoryLimiter(50) },
      reads: async (database) => {
        const lockable = await database.lockable();
        lock = lockable.lock;
        return lockable.reads;
      },
    });
    assert.equal((await service[listing](query, { key: keys.acme })).status, 200);

    const release = await lock!(listing);
    const started = performance.now();
    const clients = Array.from({ length: 40 }, () => service[listing](query, { key: keys.acme }));
    const answers = await Promise.all(clients);
    for (const answer of answers) assertUnavailable(answer);
    assert.ok(performance.now() - started < 2_000);
    // Without a free connection a request may be shed before the rate limit.
    const limited = answers.filter(({ headers }) => /;r=\d+;t=1$/.test(String(headers.ratelimit)));
    assert.ok(limited.length >= 10, `${limited.length} of them count`);

    await release();
    await wait(storeBounds.sqliteServeBusyMs);
    assert.equal((await service[listing](query, { key: keys.acme })).status, 200, 'it recovers by itself');
  });
}

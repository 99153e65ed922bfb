/** What callers of both listings see when the database fails for real. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { bounds } from '../../src/bounds.ts';
import { createMemoryLimiter } from '../../src/limiter/memory.ts';
import { createReads } from '../../src/store/sqlite/reads.ts';
import { keys } from './fixture.ts';
import { assertRefused, errorsOf } from './http.ts';
import { startTestService, temporaryFolder } from './service.ts';

type Listing = 'brands' | 'balances';

/** Drops the listing's table behind the service's back. */
export function survivesCrash(listing: Listing, query: string): void {
  test('a fault of ours tells the caller the request id and nothing else', async (t) => {
    const service = await startTestService(t, { limiters: { [listing]: createMemoryLimiter(50) } });
    const db = new DatabaseSync(service.databasePath);
    db.exec(`drop table ${listing}`);
    db.close();

    const answer = await service[listing](query, { key: keys.acme });
    assertRefused(answer, 500, 'INTERNAL_SERVER_ERROR');
    const requestId = String(answer.headers['x-request-id']);
    const [error] = errorsOf(answer);
    assert.ok(error!.detail.includes(requestId));
    assert.doesNotMatch(answer.text, /table|sql|select|\.ts/i);
    assert.equal(answer.headers.ratelimit, `"${listing}";r=49;t=1`);
    const line = service
      .logs()
      .split('\n')
      .find((text) => text.includes('no such table'));
    assert.ok(line?.includes(requestId), 'the log tells us what happened to this request');

    assert.equal((await service.call('/assets/brand-placeholder.png')).status, 200, 'the process lives on');
  });
}

/** Locks out readers. That takes a database without a write-ahead log, as a copy by vacuum is. */
export function answersWhileLocked(listing: Listing, query: string): void {
  test('a database that cannot answer is a 503 with Retry-After, for every caller within 2 s', async (t) => {
    const copy = join(temporaryFolder(t), 'copy.db');
    const service = await startTestService(t, {
      limiters: { [listing]: createMemoryLimiter(50) },
      reads: (store, databasePath) => {
        const source = new DatabaseSync(databasePath);
        source.prepare('vacuum into ?').run(copy);
        source.close();
        const reader = new DatabaseSync(copy, { timeout: bounds.sqliteServeBusyMs });
        t.after(() => reader.close());
        // The key is found, so that the request gets as far as the limiter and the page.
        return { ...createReads(reader), findKey: store.findKey };
      },
    });
    const locker = new DatabaseSync(copy);
    t.after(() => locker.close());
    assert.equal((await service[listing](query, { key: keys.acme })).status, 200);

    locker.exec('begin exclusive');
    const started = performance.now();
    const callers = Array.from({ length: 40 }, () => service[listing](query, { key: keys.acme }));
    for (const answer of await Promise.all(callers)) {
      assertRefused(answer, 503, 'SERVICE_UNAVAILABLE');
      assert.equal(answer.headers['retry-after'], '1');
      assert.match(String(answer.headers.ratelimit), /;r=\d+;t=1$/);
    }
    assert.ok(performance.now() - started < 2_000);

    locker.exec('rollback');
    await wait(bounds.sqliteServeBusyMs);
    assert.equal((await service[listing](query, { key: keys.acme })).status, 200, 'it passes by itself');
  });
}

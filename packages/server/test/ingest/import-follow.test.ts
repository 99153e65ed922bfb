import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestDatabase } from '../../../testkit/fixtures/database.ts';
import { until } from '../../../testkit/fixtures/until.ts';
import { ingestBounds } from '../../src/bounds/ingest.ts';
import { followRecords } from '../../src/ingest/follow.ts';
import { readJsonLines } from '../../src/ingest/read/json-lines.ts';
import type { Reading } from '../../src/ingest/record-check.ts';
import { OperatorError } from '../../src/lib/operator-error.ts';
import { type Store, StoreLocked, StoreUnavailable } from '../../src/store/port.ts';
import { openScene, withWrite } from './follow-scene.ts';
import { brand } from './import-into.ts';

test('commits a line without waiting for the next one, and the last one without a line end', async (t) => {
  const { feed, names, follow } = await openScene(t);
  const report = follow();
  for (const count of [1, 2]) {
    await feed.send(brand(count));
    await until(10_000, async () => (await names()).length === count);
  }
  await feed.send(brand(1), '');
  await feed.sendText(JSON.stringify(brand(3)));
  await feed.end();
  assert.deepEqual(await report, {
    read: 4,
    written: 3,
    unchanged: 1,
    stale: 0,
    deleted: 0,
    rejected_count: 0,
    rejected: [],
  });
  assert.equal((await names()).length, 3);
});

test('reports a bad line at once, skips it, and continues', async (t) => {
  const { feed, rejected, names, follow } = await openScene(t);
  const report = follow();
  await feed.send(brand(1), 'nonsense', '', { ...brand(2), color: 'alice@example.com' });
  await until(10_000, () => rejected.length === 2);
  await feed.send(brand(3));
  await feed.end();
  const { read, written, rejected_count, rejected: reported } = await report;
  assert.deepEqual([read, written, rejected_count], [4, 2, 2]);
  assert.deepEqual(
    rejected.map(([line, errors]) => [line, errors[0]?.field, errors[0]?.code]),
    [
      [2, undefined, 'INVALID_JSON'],
      [4, 'color', 'INVALID_COLOR'],
    ],
  );
  assert.deepEqual(
    reported,
    rejected.map(([line, errors]) => ({ line, errors })),
  );
  assert.doesNotMatch(JSON.stringify(rejected), /alice/);
  assert.equal((await names()).length, 2);
});

test('of two lines with the same id, the later one wins, also across commits', async (t) => {
  const { feed, names, follow } = await openScene(t);
  const report = follow();
  const lines = Array.from({ length: ingestBounds.importBatchRecords * 3 + 7 }, (_, index) => index);
  await feed.send(...lines.map((index) => brand(index % 2, { name: `Name ${index}` })));
  await feed.end();
  const { written, stale } = await report;
  assert.ok(written >= 2 && written + stale === lines.length, `${written} written, ${stale} stale`);
  assert.deepEqual(await names(), ['Name 1506', 'Name 1505']);
});

/** A store whose first write waits until `open` is called. `asked` resolves when the write starts. */
function gated(store: Store) {
  const gate = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  const slow = withWrite(store, async (run, how) => {
    asked.resolve();
    await gate.promise;
    return run.write(how);
  });
  return { slow, asked: asked.promise, open: gate.resolve };
}

test('stops reading while the database is slower than the feed', async (t) => {
  const { database, options } = await openScene(t);
  const { slow, asked, open } = gated(database.store);
  let sent = 0;
  async function* flood(): AsyncGenerator<readonly Reading[]> {
    while (sent < ingestBounds.importBatchRecords * 5) {
      sent += 1;
      yield [{ line: sent, value: brand(sent) }];
    }
  }
  const report = followRecords(slow, flood(), options);
  await asked;
  await new Promise((resolve) => setTimeout(resolve, ingestBounds.followCommitMs * 2));
  assert.equal(sent, ingestBounds.importBatchRecords);
  open();
  assert.equal((await report).written, sent);
});

test('commits lines that came during a commit, also if the feed ends before it is done', async (t) => {
  const { database, feed, options, names } = await openScene(t);
  const { slow, asked, open } = gated(database.store);
  const report = followRecords(slow, readJsonLines(feed.chunks), options);
  await feed.send(brand(1));
  await asked;
  await feed.send(brand(2));
  await feed.end();
  open();
  assert.equal((await report).written, 2);
  assert.equal((await names()).length, 2);
});

/** Locks the database until the returned function is called. */
async function lockDatabase({ execute, lockable }: TestDatabase): Promise<() => Promise<void>> {
  if (process.env.TEST_ENGINE === 'postgres') return (await lockable()).lock('brands');
  await execute('begin immediate');
  return async () => void (await execute('rollback'));
}

test('continues when the database is back, and loses nothing', async (t) => {
  const { database, feed, names, follow } = await openScene(t);
  let unlock = async () => {};
  const reported: string[] = [];
  const report = follow({
    waiting: (reason) => {
      reported.push(reason);
      void unlock();
    },
    answering: () => reported.push('it answers'),
  });
  await feed.send(brand(1));
  await until(10_000, async () => (await names()).length === 1);
  if (process.env.TEST_ENGINE === 'postgres') {
    const others = 'datname = current_database() and pid <> pg_backend_pid()';
    await database.execute(`select pg_terminate_backend(pid) from pg_stat_activity where ${others}`);
  } else unlock = await lockDatabase(database);
  await feed.send(brand(2, { id: null }), brand(3));
  await feed.end();
  assert.equal((await report).written, 3);
  const lock = 'The embedded database cannot answer now (another command, such as an import, locks it).';
  // A new connection is made without a message.
  assert.deepEqual(reported, process.env.TEST_ENGINE === 'postgres' ? [] : [lock, 'it answers']);
  assert.equal((await names()).length, 3);
});

const grant = { id: 'g', partner_id: 'acme', customer_id: 'alice' };

/** A store that fails to find partners while `isAway` is set. */
function withoutPartners(store: Store) {
  const state = { isAway: true };
  const away = new StoreUnavailable('The database cannot be reached (gone).');
  const findPartner = async (id: string) => (state.isAway ? Promise.reject(away) : store.findPartner(id));
  return { state, store: { ...store, findPartner } };
}

test('retries also when a partner is looked up', async (t) => {
  const { database, feed, options } = await openScene(t);
  const { state, store } = withoutPartners(database.store);
  const reported: string[] = [];
  const report = followRecords(store, readJsonLines(feed.chunks), {
    ...options,
    kind: 'grants',
    waiting: (reason) => {
      reported.push(reason);
      state.isAway = false;
    },
    answering: () => reported.push('it answers'),
  });
  await feed.send(grant, { ...grant, id: 'h', partner_id: 'nobody' });
  await feed.end();
  const { written, rejected_count } = await report;
  assert.deepEqual([written, rejected_count], [1, 1]);
  assert.deepEqual(reported, ['The database cannot be reached (gone).', 'it answers']);
});

test('after a stop it waits only stoppedMs for a stuck database', {
  timeout: 20_000,
}, async (t) => {
  const { database, feed, options } = await openScene(t);
  const { slow, asked } = gated(database.store);
  const writing = assert.rejects(
    followRecords(slow, readJsonLines(feed.chunks), { ...options, stoppedMs: 100 }),
    /does not answer, or another import locks it\. No line was written\. Send all/,
  );
  await feed.send(brand(1));
  await asked;
  options.stop.abort();
  await writing;
});

test('says that nothing is written when it is stopped before a partner was found', {
  timeout: 20_000,
}, async (t) => {
  const { database, feed, options } = await openScene(t);
  const { store } = withoutPartners(database.store);
  const hurried = { ...options, stoppedMs: 100, waiting: () => options.stop.abort() };
  const readings = readJsonLines(feed.chunks);
  const looking = assert.rejects(
    followRecords(store, readings, { ...hurried, kind: 'grants' }),
    /gone\)\. No line was written\. Send all/,
  );
  await feed.send(grant);
  await looking;
});

test('ends when the database stays unreachable, and says which lines are written', async (t) => {
  const { database, feed, names, options } = await openScene(t);
  let isGone = false;
  const store = withWrite(database.store, async (run, how) => {
    if (isGone) throw new StoreUnavailable('It is gone.');
    return run.write(how);
  });
  const brief = { ...options, limitMs: 600, waiting: () => {} };
  const failed = assert.rejects(
    followRecords(store, readJsonLines(feed.chunks), brief),
    (error) => error instanceof OperatorError && /Lines up to 3 were written\. Send/.test(error.message),
  );
  await feed.send(brand(1), '', 'nonsense');
  await until(10_000, async () => (await names()).length === 1);
  isGone = true;
  await feed.send(brand(2));
  await failed;
  assert.equal((await names()).length, 1);
});

test('waits for a lock of another command longer than for an outage', async (t) => {
  const { database, feed, options } = await openScene(t);
  let attempts = 0;
  const locked = withWrite(database.store, async (run, how) => {
    attempts += 1;
    if (attempts < 5) throw new StoreLocked('It is locked.');
    return run.write(how);
  });
  const waits: unknown[] = [];
  // Less than the three waits, and enough for one wait and an attempt on a slow cluster.
  const limitMs = 2.5 * ingestBounds.followRetryMs;
  const waiting = (...given: unknown[]) => waits.push(given);
  const following = followRecords(locked, readJsonLines(feed.chunks), {
    ...options,
    limitMs,
    waiting,
    answering: () => waits.push('answers'),
  });
  await feed.send(brand(1));
  await feed.end();
  assert.deepEqual([(await following).written, attempts], [1, 5]);
  assert.deepEqual(waits, [['It is locked.', undefined], 'answers']);
});

test('begins no new run when it gives up on a locked database', async (t) => {
  const { database, feed, options } = await openScene(t);
  const beginImport = t.mock.fn<Store['beginImport']>(async (kind) => {
    const run = await database.store.beginImport(kind);
    // Closing the connection ends the wait for the lock with an error.
    const { promise, reject } = Promise.withResolvers<never>();
    return { ...run, write: () => promise, end: async () => reject(new StoreUnavailable('closed')) };
  });
  const locked = { ...database.store, beginImport };
  const following = followRecords(locked, readJsonLines(feed.chunks), { ...options, limitMs: 200 });
  const failed = assert.rejects(following, /another import locks it\./);
  await feed.send(brand(1));
  await failed;
  await new Promise(setImmediate);
  assert.equal(beginImport.mock.callCount(), 1);
});

test('commits the lines before a feed breaks, and says which lines are written', async (t) => {
  const { feed, names, follow } = await openScene(t);
  const failed = assert.rejects(follow(), /the queue is gone Lines up to 2 were written\./);
  await feed.send(brand(1), brand(2));
  await feed.fail(new Error('the queue is gone'));
  await failed;
  assert.equal((await names()).length, 2);
});

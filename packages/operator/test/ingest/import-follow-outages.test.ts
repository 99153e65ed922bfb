import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseDatabaseUrl, toFollow } from '../../../store/src/address.ts';
import { openStore } from '../../../store/src/engines.ts';
import { type ImportRun, type Store, StoreUnavailable } from '../../../store/src/port.ts';
import { byTest, createdAt } from '../../../testkit/fixtures/fixture.ts';
import { until } from '../../../testkit/fixtures/lifetime.ts';
import { startNetwork } from '../../../testkit/servers/network.ts';
import { migratedDatabase } from '../../../testkit/service/database.ts';
import { followRecords } from '../../src/ingest/follow.ts';
import { readJsonLines } from '../../src/ingest/json.ts';
import { openScene } from './follow-scene.ts';
import { brand, brandsOf } from './import-into.ts';

const answersAgain = /^The database answers again, after \d+ s\. The import continues\.$/;

const grant = { id: 'g', partner_id: 'acme', customer_id: 'alice' };

/** A store that fails to find partners while `isAway` is set. */
function withoutPartners(store: Store) {
  const state = { isAway: true };
  const away = new StoreUnavailable('The database cannot be reached (gone).');
  const findPartner = async (id: string) => (state.isAway ? Promise.reject(away) : store.findPartner(id));
  return { state, store: { ...store, findPartner } };
}

test('retries also when a partner is looked up', async (t) => {
  const { database, feed, withOutages } = await openScene(t);
  const { state, store } = withoutPartners(database.store);
  const reported: string[] = [];
  const report = (sentence: string) => {
    reported.push(sentence);
    state.isAway = false;
  };
  const { options } = withOutages({ report });
  const following = followRecords(store, readJsonLines(feed.chunks), { ...options, kind: 'grants' });
  await feed.send(grant, { ...grant, id: 'h', partner_id: 'nobody' });
  await feed.end();
  const { written, rejected_count } = await following;
  assert.deepEqual([written, rejected_count], [1, 1]);
  assert.equal(reported[0], 'The database cannot be reached (gone). Retrying until the database returns.');
  assert.match(reported[1]!, answersAgain);
  assert.equal(reported.length, 2);
});

test('says that nothing is written when it is stopped before a partner was found', {
  timeout: 120_000,
}, async (t) => {
  const { database, feed, withOutages } = await openScene(t);
  const { store } = withoutPartners(database.store);
  const { options } = withOutages({ stoppedMs: 100, report: () => options.stop.abort() });
  const looking = assert.rejects(
    followRecords(store, readJsonLines(feed.chunks), { ...options, kind: 'grants' }),
    /gone\)\. No line was written\. Send all/,
  );
  await feed.send(grant);
  await looking;
});

/** A store whose first run never answers, and the runs that it began. */
function frozenAtFirst(store: Store) {
  const runs: ImportRun[] = [];
  const ended: ImportRun[] = [];
  const beginImport: Store['beginImport'] = async (...given) => {
    const real = await store.beginImport(...given);
    const { promise, reject } = Promise.withResolvers<never>();
    promise.catch(() => {});
    // Closing the connection ends the wait with an error.
    const end = async () => {
      reject(new StoreUnavailable('closed'));
      ended.push(run);
      await real.end();
    };
    const run: ImportRun = { ...real, end, ...(runs.length === 0 && { write: () => promise }) };
    runs.push(run);
    return run;
  };
  return { store: { ...store, beginImport }, runs, ended };
}

test('abandons an attempt that gets no answer, lets go of its connection, and makes another', async (t) => {
  const { database, feed, names, withOutages } = await openScene(t);
  const { store, runs, ended } = frozenAtFirst(database.store);
  const { options, reported } = withOutages({ answerMs: 1_000 });
  const following = followRecords(store, readJsonLines(feed.chunks), options);
  await feed.send(brand(1));
  await feed.end();
  assert.equal((await following).written, 1);
  assert.equal((await names()).length, 1);
  assert.match(reported[0]!, /^The database does not answer, .* Retrying until the database returns\.$/);
  assert.match(reported[1]!, answersAgain);
  assert.equal(ended[0], runs[0]);
  assert.equal(new Set(ended).size, runs.length);
});

test('gets past connections to Postgres that a firewall has silently cut', async (t) => {
  const url = new URL(await migratedDatabase(t));
  const proxy = await startNetwork(t, { port: Number(url.port) });
  url.hostname = '127.0.0.1';
  url.port = String(proxy.port);
  const store = await openStore(parseDatabaseUrl(url.href)!, 'sandbox', toFollow);
  t.after(() => store.close());
  const { feed, withOutages } = await openScene(t);
  const { options, reported } = withOutages({ answerMs: 2_000 });
  await store.createPartner({ id: 'acme', name: 'acme', created_at: createdAt }, byTest);
  const following = followRecords(store, readJsonLines(feed.chunks), options);
  await feed.send(brand(1));
  await until(20_000, async () => (await brandsOf(store)).length === 1);
  proxy.fallSilent();
  proxy.forget();
  await feed.send(brand(2));
  await feed.end();
  assert.equal((await following).written, 2);
  assert.match(reported[0]!, /^The database does not answer, /);
  assert.match(reported.at(-1)!, answersAgain);
  assert.equal((await brandsOf(store)).length, 2);
});

test('begins no new run when it is stopped while it waits for an answer', async (t) => {
  const { database, feed, withOutages } = await openScene(t);
  const { store, runs, ended } = frozenAtFirst(database.store);
  const { options } = withOutages({ stoppedMs: 100 });
  const following = followRecords(store, readJsonLines(feed.chunks), options);
  const failed = assert.rejects(following, /another import locks it\./);
  await feed.send(brand(1));
  options.stop.abort();
  await failed;
  await new Promise(setImmediate);
  assert.deepEqual([runs.length, new Set(ended).size], [1, 1]);
});

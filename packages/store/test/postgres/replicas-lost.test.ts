import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { assertFinding, findingsOf } from '../../../operator/test/doctor/examined.ts';
import { longRunOnly, until } from '../../../testkit/fixtures/lifetime.ts';
import {
  caughtUp,
  connectTo,
  freshCluster,
  type PostgresServer,
  promote,
  startPostgres,
  startStandby,
  withoutOwnServers,
} from '../../../testkit/servers/postgres.ts';
import { openServing } from '../../../testkit/service/database.ts';
import {
  database,
  fillOn,
  limitMs,
  openOn,
  openScene,
  pageAfter,
  pagesOfReplicas,
  type Replicated,
  readVersion,
  startReplicated,
  used,
} from './replica-scene.ts';

let replicated: Replicated;

describe('replicas that are lost', { skip: withoutOwnServers() }, () => {
  before(async () => {
    replicated = await startReplicated();
  });

  test('a replica that is cut off from the primary is left out', async (t) => {
    const { store, write, execute } = await openScene(t, replicated);
    const [cut] = replicated.standbys;
    const [{ primary_conninfo }] = await execute(cut, 'show primary_conninfo');
    const isStreaming = 'select 1 from pg_stat_wal_receiver';
    const reload = async (value: string) => {
      await execute(cut, `alter system set primary_conninfo = '${value}'`);
      await execute(cut, 'select pg_reload_conf()');
    };
    t.after(() => reload(primary_conninfo));
    await reload('host=127.0.0.1 port=1');
    await until(limitMs, async () => (await execute(cut, isStreaming)).length === 0);
    const version = await write();
    await until(limitMs, () => used(store)[0] === 0);
    assert.equal(await readVersion(store), version);
    await reload(primary_conninfo);
    await until(limitMs, () => used(store)[0] === 1);
  });

  test('a replica that is killed or frozen costs no client an answer, and is used again later', async (t) => {
    const { store, write } = await openScene(t, replicated);
    const isUsedIs = (index: number, expected: number) =>
      until(limitMs, () => used(store)[index] === expected);
    let longestMs = 0;
    let isGoing = true;
    const reading = (async () => {
      while (isGoing) {
        const startedMs = performance.now();
        await readVersion(store);
        longestMs = Math.max(longestMs, performance.now() - startedMs);
        await wait(1);
      }
    })();
    const [first, second] = replicated.standbys;
    await first.kill();
    await isUsedIs(0, 0);
    second.freeze();
    t.after(() => second.thaw());
    await isUsedIs(1, 0);
    const version = await write();
    assert.equal(await readVersion(store), version, 'with none left, the primary serves');
    second.thaw();
    await first.start();
    await Promise.all([isUsedIs(0, 1), isUsedIs(1, 1)]);
    isGoing = false;
    await reading;
    assert.ok(longestMs < 2_000, `${longestMs} ms`);
    t.diagnostic(`longest answer: ${Math.round(longestMs)} ms`);
  });

  test('doctor reports which replica is behind, and which is of another database', async (t) => {
    const { primary, standbys } = replicated;
    const { write, execute } = await openScene(t, replicated);
    const replicasOf = async (primaryUrl: string, ...urls: string[]) => {
      const flags = urls.flatMap((url) => ['--replica', url]);
      return (await findingsOf(['--environment', 'sandbox', '--database', primaryUrl, ...flags])).replicas!;
    };
    const [url, ...both] = [primary, ...standbys].map((server) => server.url(database)) as [
      string,
      ...string[],
    ];
    assertFinding(
      await replicasOf(url, ...both),
      'ok',
      /^(127\.0\.0\.1:\d+ is a standby, at most \d\.\d s behind\. ?){2}$/,
    );

    const resume = () => execute(standbys[0], 'select pg_wal_replay_resume()');
    await execute(standbys[0], 'select pg_wal_replay_pause()');
    t.after(resume);
    await write();
    const behind = await replicasOf(url, ...both);
    assertFinding(
      behind,
      'warning',
      /more than 1 s behind, by \d+ bytes.*at most \d\.\d s behind/,
      /replay is not paused/,
    );
    await resume();

    const elsewhere = standbys[1].url('postgres');
    assertFinding(
      await replicasOf(url, elsewhere),
      'failed',
      /settings|another database/,
      /of this database/,
    );
    const alone = await replicasOf('postgres://postgres@127.0.0.1:1/network', both[1]!);
    assertFinding(alone, 'ok', /is a standby\. Its primary was not checked/);
  });

  test('a standby of another cluster or database is not used, even if its log is ahead', {
    skip: longRunOnly,
  }, async (t) => {
    const stranger = await startPostgres(t, {}, freshCluster());
    await fillOn(stranger);
    const { primary, standbys } = replicated;
    await fillOn(primary, 'other');
    await caughtUp(standbys[0], primary);
    const ofStranger = await startStandby(t, stranger);
    const urls = [ofStranger.url(database), standbys[0].url('other'), standbys[1].url(database)];
    const store = await openServing(t, primary.url(database), { replicas: urls });
    await until(limitMs, () => used(store)[2] === 1);
    for (let round = 0; round < 20; round += 1) await readVersion(store);
    assert.deepEqual(used(store), [0, 0, 1]);
    assert.deepEqual(pagesOfReplicas(store), [0, 0, 20]);
  });

  test('a standby of a replaced primary is not used with the new primary', {
    skip: longRunOnly,
  }, async (t) => {
    const old = await startPostgres(t);
    await fillOn(old);
    const standby = await startStandby(t, old);
    const astray = await startStandby(t, old);
    await promote(standby);
    const client = await connectTo(t, old.url(database));
    await client.query(`update brands set name = 'lost' where partner_id = 'acme'`);
    await caughtUp(astray, old);
    await old.kill();
    const store = await openOn(t, standby, [astray]);
    for (let round = 0; round < 100; round += 1) {
      const { records } = await pageAfter(store, '');
      assert.doesNotMatch(records, /lost/);
      await wait(10);
    }
  });

  test('a server that is not a standby is left out; a standby that starts later is used', async (t) => {
    const { primary, standbys } = replicated;
    const [first, second] = standbys;
    await first.kill();
    const elsewhere = {
      ...primary,
      url: (name: string) => primary.url(name).replace('127.0.0.1', 'localhost'),
    } as PostgresServer;
    const store = await openOn(t, primary, [first, primary, elsewhere, second]);
    await until(limitMs, () => used(store)[3] === 1);
    assert.deepEqual(used(store), [0, Number.NaN, 0, 1]);
    await first.start();
    await until(limitMs, () => used(store)[0] === 1);
    assert.deepEqual(used(store), [1, Number.NaN, 0, 1]);
  });
});

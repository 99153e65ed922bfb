import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { digestOfKey } from '../../../service/src/auth.ts';
import { future, keys } from '../../../testkit/fixtures/fixture.ts';
import { until } from '../../../testkit/fixtures/lifetime.ts';
import { startNetwork } from '../../../testkit/servers/network.ts';
import {
  caughtUp,
  connectTo,
  type PostgresServer,
  withoutOwnServers,
} from '../../../testkit/servers/postgres.ts';
import { openServing } from '../../../testkit/service/database.ts';
import { recorded } from '../../../testkit/watch/recorded-span.ts';
import { type Page, StoreUnavailable } from '../../src/port.ts';
import {
  areAllUsed,
  database,
  limitMs,
  openScene,
  pageAfter,
  pagesOfReplicas,
  type Replicated,
  readVersion,
  rounds,
  roundTrips,
  startReplicated,
  used,
  versionOf,
  withPort,
} from './replica-scene.ts';

let replicated: Replicated;

function unlessUnavailable(error: unknown): undefined {
  if (!(error instanceof StoreUnavailable)) throw error;
}

describe('replicas', { skip: withoutOwnServers() }, () => {
  before(async () => {
    replicated = await startReplicated();
  });

  test('brands are read from the replicas; keys, grants and balances from the primary', async (t) => {
    const { store } = await openScene(t, replicated);
    for (let round = 0; round < 20; round += 1) {
      await pageAfter(store, '');
      await store.findKey(digestOfKey(keys.acme));
      const who = { partnerId: 'acme', customerId: 'alice', type: 'CHECKING', grantId: undefined };
      const answer = await store.listBalances({ ...who, at: future, after: '', limit: 1 });
      assert.equal(answer.grant, 'ACTIVE');
    }
    assert.ok(pagesOfReplicas(store).every((pages) => pages > 0));
    // The server counts the scans of a connection when it ends.
    await store.close();
    for (const standby of replicated.standbys) {
      const client = await connectTo(t, standby.url(database));
      const scans = async (table: string) => {
        const { rows } = await client.query(
          `select seq_scan + idx_scan as scans from pg_stat_user_tables where relname = $1`,
          [table],
        );
        return Number(rows[0].scans);
      };
      await until(limitMs, async () => (await scans('brands')) > 0);
      for (const table of ['api_keys', 'partners', 'grants', 'balances']) assert.equal(await scans(table), 0);
    }
  });

  test('a trace names the replica that a page is from, and the primary for a key', async (t) => {
    const { store } = await openScene(t, replicated);
    const name = 'partner_network.database.server';
    const servers = new Set<unknown>();
    await until(limitMs, async () => {
      servers.add((await recorded(() => pageAfter(store, ''))).noted[name]);
      return servers.has('replica 1') && servers.has('replica 2');
    });
    const { noted } = await recorded(() => store.findKey(digestOfKey(keys.acme)));
    assert.equal(noted[name], 'primary');
  });

  test('a page takes two round trips: how far the replica has replayed, and the page', async (t) => {
    const { primary, standbys } = replicated;
    const { port, requests } = await startNetwork(t, standbys[0]);
    const replicas = [withPort(standbys[0].url(database), port)];
    const store = await openServing(t, primary.url(database), { replicas });
    await until(limitMs, () => areAllUsed(store));
    await pageAfter(store, '');
    assert.equal(await roundTrips(requests, () => pageAfter(store, '')), 2);
    assert.deepEqual(pagesOfReplicas(store), [1 + rounds]);
  });

  test('a page from a replica is never more than a second old, even if the replica is late', async (t) => {
    const { store, write, execute } = await openScene(t, replicated);
    const { primary, standbys } = replicated;
    const [late, other] = standbys;
    const commits: { version: number; atMs: number }[] = [];
    let isWriting = true;
    const writing = (async () => {
      while (isWriting) {
        const version = await write();
        commits.push({ version, atMs: performance.now() });
        await wait(10);
      }
    })();
    t.after(() => execute(late, 'select pg_wal_replay_resume()'));

    let oldestMs = 0;
    async function readAndMeasure(): Promise<void> {
      const askedMs = performance.now();
      const version = await readVersion(store);
      const missed = commits.find((commit) => commit.version > version);
      if (missed !== undefined) oldestMs = Math.max(oldestMs, askedMs - missed.atMs);
    }

    await until(limitMs, () => commits.length > 3);
    await execute(late, 'select pg_wal_replay_pause()');
    await until(limitMs, async () => {
      await readAndMeasure();
      return used(store)[0] === 0;
    });
    const [pagesBefore] = pagesOfReplicas(store);
    const othersBefore = pagesOfReplicas(store)[1]!;
    for (let round = 0; round < 50; round += 1) await readAndMeasure();
    assert.equal(pagesOfReplicas(store)[0], pagesBefore, 'the late replica is left out');
    assert.ok(pagesOfReplicas(store)[1]! > othersBefore, 'the other replica serves');
    assert.ok(oldestMs <= 1_000, `something was ${oldestMs} ms old`);

    await execute(late, 'select pg_wal_replay_resume()');
    await until(limitMs, async () => {
      await readAndMeasure();
      return used(store)[0] === 1;
    });
    assert.ok(oldestMs <= 1_000, `something was ${oldestMs} ms old`);
    isWriting = false;
    await writing;
    await caughtUp(late, primary);
    await caughtUp(other, primary);
    t.diagnostic(`the oldest that was read: ${Math.round(oldestMs)} ms`);
  });

  test('pages of a walk never go back in time while both replicas fall behind and catch up', async (t) => {
    const { store, write, execute } = await openScene(t, replicated);
    const { primary, standbys } = replicated;
    const lastMs = performance.now() + limitMs;
    let walks = 0;
    let pages = 0;
    const isEnough = () => walks > 50 && pagesOfReplicas(store).every((count) => count > 100);
    const isGoing = () => !isEnough() && performance.now() < lastMs;

    async function writeOn(): Promise<void> {
      while (isGoing()) await write();
    }
    async function stumble(standby: PostgresServer, restMs: number): Promise<void> {
      while (isGoing()) {
        await execute(standby, 'select pg_wal_replay_pause()');
        await wait(restMs);
        await execute(standby, 'select pg_wal_replay_resume()');
        await wait(restMs);
      }
    }
    async function walkOn(): Promise<void> {
      let last: Page | undefined;
      let latest = 0;
      while (isGoing()) {
        const page = await pageAfter(store, last?.next ?? '', last?.walPosition).catch(unlessUnavailable);
        await wait(2);
        // On a busy machine the store can refuse a page. A client then asks for it again.
        if (page === undefined) continue;
        const version = versionOf(page);
        assert.ok(version >= latest, `from version ${latest} back to ${version}`);
        const isLast = page.next === undefined;
        pages += 1;
        if (isLast) walks += 1;
        last = isLast ? undefined : page;
        latest = isLast ? 0 : version;
      }
    }
    const walkers = Array.from({ length: 4 }, walkOn);
    await Promise.all([writeOn(), stumble(standbys[0], 120), stumble(standbys[1], 70), ...walkers]);
    const served = pagesOfReplicas(store);
    assert.ok(isEnough(), `${walks} walks, ${served} pages`);
    t.diagnostic(`${pages} pages in ${walks} walks; ${served.join(' and ')} of them by the replicas`);
    for (const standby of standbys) await caughtUp(standby, primary);
  });
});
